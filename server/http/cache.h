// Documents that are expensive to make and asked for again: texts by key, in memory of a bounded size. The
// oldest go first. Any thread.
#pragma once

#include "server/common/str.h"

typedef struct Cache Cache;

Cache *cache_new(size_t max); // bytes of all texts and keys together
void cache_free(Cache *cache);
// Appends the text that was put with this key and version. False: there is none.
bool cache_get(Cache *cache, const char *key, unsigned long version, Str *out);
// A text of another version with the same key goes. One over an eighth of the whole is not kept.
void cache_put(Cache *cache, const char *key, unsigned long version, const char *text, size_t size);
