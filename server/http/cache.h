// Keeps documents that are expensive to make and requested often: texts by key, in memory of
// bounded size. The oldest texts are removed first. Any thread.
#pragma once

#include "server/common/str.h"

typedef struct Cache Cache;

Cache *cache_new(size_t max); // `max`: bytes of all texts and keys together
void cache_free(Cache *cache);
// Appends the text that was stored with this key and version. False: there is none.
bool cache_get(Cache *cache, const char *key, unsigned long version, Str *out);
// Replaces a text of another version with the same key. A text larger than an eighth of the cache
// is not kept.
void cache_put(Cache *cache, const char *key, unsigned long version, const char *text, size_t size);
