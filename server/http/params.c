// See params.h.
#include "server/http/params.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/common/str.h"

void params_add(Params *params, const char *name, size_t name_size, const char *value,
                size_t size) {
    if (params->count == params->capacity) {
        params->capacity = params->capacity ? 2 * params->capacity : 8;
        params->items = xrealloc(params->items, params->capacity * sizeof *params->items);
    }
    // One block holds name and value, so a parameter needs one allocation.
    char *block = xmalloc(name_size + size + 2);
    memcpy(block, name, name_size);
    block[name_size] = 0;
    if (size)
        memcpy(block + name_size + 1, value, size);
    block[name_size + 1 + size] = 0;
    params->items[params->count++] = (Param){block, block + name_size + 1, size};
}

const Param *params_find(const Params *params, const char *name) {
    for (size_t i = 0; i < params->count; i++)
        if (!strcmp(params->items[i].name, name))
            return &params->items[i];
    return NULL;
}

const Param *params_find_caseless(const Params *params, const char *name) {
    for (size_t i = 0; i < params->count; i++)
        if (!strcasecmp(params->items[i].name, name))
            return &params->items[i];
    return NULL;
}

void params_release(Params *params) {
    for (size_t i = 0; i < params->count; i++)
        free(params->items[i].name);
    free(params->items);
    *params = (Params){0};
}
