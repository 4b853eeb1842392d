// A list of named values: headers, query, form or cookies, in order of arrival. If a name is
// repeated, the first value counts. A value is a NUL-terminated copy and may contain NULs.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct Param {
    char *name, *value;
    size_t size; // of value
} Param;

typedef struct Params {
    Param *items;
    size_t count, capacity;
} Params;

void params_add(Params *params, const char *name, size_t name_size, const char *value, size_t size);
const Param *params_find(const Params *params, const char *name); // NULL when absent
const Param *params_find_caseless(const Params *params, const char *name);
void params_release(Params *params);
