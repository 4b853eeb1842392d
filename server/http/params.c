// See pairs.h.
#include "server/http/params.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/common/str.h"

void pairs_add(Pairs *pairs, const char *name, size_t name_size, const char *value, size_t size) {
    if (pairs->count == pairs->capacity) {
        pairs->capacity = pairs->capacity ? 2 * pairs->capacity : 8;
        pairs->items = xrealloc(pairs->items, pairs->capacity * sizeof *pairs->items);
    }
    // One block holds both, so that a pair costs one allocation.
    char *block = xmalloc(name_size + size + 2);
    memcpy(block, name, name_size);
    block[name_size] = 0;
    if (size)
        memcpy(block + name_size + 1, value, size);
    block[name_size + 1 + size] = 0;
    pairs->items[pairs->count++] = (Pair){block, block + name_size + 1, size};
}

const Pair *pairs_find(const Pairs *pairs, const char *name) {
    for (size_t i = 0; i < pairs->count; i++)
        if (!strcmp(pairs->items[i].name, name))
            return &pairs->items[i];
    return NULL;
}

const Pair *pairs_find_caseless(const Pairs *pairs, const char *name) {
    for (size_t i = 0; i < pairs->count; i++)
        if (!strcasecmp(pairs->items[i].name, name))
            return &pairs->items[i];
    return NULL;
}

void pairs_release(Pairs *pairs) {
    for (size_t i = 0; i < pairs->count; i++)
        free(pairs->items[i].name);
    free(pairs->items);
    *pairs = (Pairs){0};
}
