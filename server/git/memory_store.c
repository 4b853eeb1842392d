// See memory_store.h.
#include "server/git/memory_store.h"

#include <git2/sys/odb_backend.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/str.h"

enum { PRIORITY = 100, SLOTS_FIRST = 256 }; // higher than libgit2's own stores

struct MemoryStore {
    git_odb_backend parent; // must be first: libgit2 sees this struct
    MemoryObject *objects;
    size_t count, bytes, bytes_max;
    size_t *slots, slot_count; // by id: number of the object plus one, 0: free
    bool full;
};

// ---- finding ------------------------------------------------------------------------------------

// The slot of an object, or the free slot where it would be.
static size_t *slot_of(const MemoryStore *store, const git_oid *id) {
    size_t at;
    memcpy(&at, id->id, sizeof at); // an id is already a hash
    for (at %= store->slot_count; store->slots[at]; at = (at + 1) % store->slot_count)
        if (git_oid_equal(&store->objects[store->slots[at] - 1].id, id))
            break;
    return &store->slots[at];
}

static const MemoryObject *find(git_odb_backend *backend, const git_oid *id) {
    const MemoryStore *store = (const MemoryStore *)backend;
    size_t number = *slot_of(store, id);
    return number ? &store->objects[number - 1] : NULL;
}

static int store_exists(git_odb_backend *backend, const git_oid *id) {
    return find(backend, id) != NULL;
}

static int store_read_header(size_t *size, git_object_t *type, git_odb_backend *backend,
                             const git_oid *id) {
    const MemoryObject *object = find(backend, id);
    if (!object)
        return GIT_ENOTFOUND;
    *size = object->size;
    *type = object->type;
    return 0;
}

static int store_read(void **bytes, size_t *size, git_object_t *type, git_odb_backend *backend,
                      const git_oid *id) {
    const MemoryObject *object = find(backend, id);
    if (!object)
        return GIT_ENOTFOUND;
    *bytes = git_odb_backend_data_alloc(backend, object->size);
    if (!*bytes)
        return -1;
    memcpy(*bytes, object->bytes, object->size);
    return store_read_header(size, type, backend, id);
}

// ---- writing ------------------------------------------------------------------------------------

// Makes sure that at most half of the slots are used.
static void make_room(MemoryStore *store) {
    if (2 * (store->count + 1) <= store->slot_count)
        return;
    store->slot_count *= 2;
    free(store->slots);
    store->slots = xcalloc(store->slot_count, sizeof *store->slots);
    for (size_t i = 0; store->objects && i < store->count; i++)
        *slot_of(store, &store->objects[i].id) = i + 1;
}

static int store_write(git_odb_backend *backend, const git_oid *id, const void *bytes, size_t size,
                       git_object_t type) {
    MemoryStore *store = (MemoryStore *)backend;
    if (find(backend, id))
        return 0;
    store->full |= size > store->bytes_max - store->bytes;
    if (store->full)
        return GIT_ERROR;
    make_room(store);
    store->objects = xrealloc(store->objects, (store->count + 1) * sizeof *store->objects);
    MemoryObject *object = &store->objects[store->count];
    *object = (MemoryObject){.type = type, .size = size, .bytes = xmalloc(size + 1)};
    git_oid_cpy(&object->id, id);
    memcpy(object->bytes, bytes, size);
    store->bytes += size;
    *slot_of(store, id) = ++store->count;
    return 0;
}

static void store_free(git_odb_backend *backend) {
    MemoryStore *store = (MemoryStore *)backend;
    for (size_t i = 0; i < store->count; i++)
        free(store->objects[i].bytes);
    free(store->objects);
    free(store->slots);
    free(store);
}

// ---- public -------------------------------------------------------------------------------------

MemoryStore *memory_store_add(git_odb *odb, size_t bytes_max) {
    MemoryStore *store = xcalloc(1, sizeof *store);
    git_odb_init_backend(&store->parent, GIT_ODB_BACKEND_VERSION);
    store->parent.read = store_read;
    store->parent.read_header = store_read_header;
    store->parent.exists = store_exists;
    store->parent.write = store_write;
    store->parent.free = store_free;
    store->bytes_max = bytes_max;
    store->slot_count = SLOTS_FIRST;
    store->slots = xcalloc(store->slot_count, sizeof *store->slots);
    if (git_odb_add_backend(odb, &store->parent, PRIORITY) == 0)
        return store;
    store_free(&store->parent);
    return NULL;
}

bool memory_store_is_full(const MemoryStore *store) {
    return store->full;
}

const MemoryObject *memory_store_object(const MemoryStore *store, size_t number) {
    return number < store->count ? &store->objects[number] : NULL;
}
