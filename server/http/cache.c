// See cache.h. A list in order of age; it has a few hundred texts at most.
#include "server/http/cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 512 };

typedef struct Entry {
    char *key, *text;
    size_t size;
    unsigned long version;
    struct Entry *next; // the next younger entry
} Entry;

struct Cache {
    pthread_mutex_t mutex;
    size_t max, used;
    int count;
    Entry *oldest;
};

Cache *cache_new(size_t max) {
    Cache *cache = xcalloc(1, sizeof *cache);
    pthread_mutex_init(&cache->mutex, NULL);
    cache->max = max;
    return cache;
}

static size_t weight_of(const Entry *entry) {
    return sizeof *entry + strlen(entry->key) + entry->size;
}

static void entry_remove(Cache *cache, Entry **at) {
    Entry *entry = *at;
    *at = entry->next;
    cache->used -= weight_of(entry);
    cache->count--;
    free(entry->key);
    free(entry->text);
    free(entry);
}

void cache_free(Cache *cache) {
    if (!cache)
        return;
    while (cache->oldest)
        entry_remove(cache, &cache->oldest);
    pthread_mutex_destroy(&cache->mutex);
    free(cache);
}

static Entry **entry_find(Cache *cache, const char *key) {
    Entry **at = &cache->oldest;
    while (*at && strcmp((*at)->key, key) != 0)
        at = &(*at)->next;
    return at;
}

bool cache_get(Cache *cache, const char *key, unsigned long version, Str *out) {
    pthread_mutex_lock(&cache->mutex);
    const Entry *entry = *entry_find(cache, key);
    bool found = entry && entry->version == version;
    if (found)
        str_add(out, entry->text, entry->size);
    pthread_mutex_unlock(&cache->mutex);
    return found;
}

void cache_put(Cache *cache, const char *key, unsigned long version, const char *text,
               size_t size) {
    if (size > cache->max / 8)
        return;
    Entry *entry = xcalloc(1, sizeof *entry), **at;
    *entry = (Entry){.key = xstrdup(key), .text = xmalloc(size + 1), .size = size};
    entry->version = version;
    memcpy(entry->text, text, size);
    pthread_mutex_lock(&cache->mutex);
    if (*(at = entry_find(cache, key)))
        entry_remove(cache, at);
    while (cache->oldest &&
           (cache->used + weight_of(entry) > cache->max || cache->count >= ENTRIES_MAX))
        entry_remove(cache, &cache->oldest);
    for (at = &cache->oldest; *at;)
        at = &(*at)->next;
    *at = entry;
    cache->used += weight_of(entry);
    cache->count++;
    pthread_mutex_unlock(&cache->mutex);
}
