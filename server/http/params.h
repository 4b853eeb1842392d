// A list of named values, as headers, queries, forms and cookies are: in order of arrival, names
// may repeat and the first counts. Values are NUL-terminated copies that may hold NULs inside.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct Pair {
    char *name, *value;
    size_t size; // of value
} Pair;

typedef struct Pairs {
    Pair *items;
    size_t count, capacity;
} Pairs;

void pairs_add(Pairs *pairs, const char *name, size_t name_size, const char *value, size_t size);
const Pair *pairs_find(const Pairs *pairs, const char *name); // NULL when absent
const Pair *pairs_find_caseless(const Pairs *pairs, const char *name);
void pairs_release(Pairs *pairs);
