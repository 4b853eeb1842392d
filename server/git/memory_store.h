// A store of git's objects in memory, for libgit2: what is written goes there, what is read may
// come from there or from any other store of the repository.
#pragma once

#include <git2.h>
#include <stdbool.h>

typedef struct MemoryObject {
    git_oid id;
    git_object_t type;
    size_t size;
    char *bytes;
} MemoryObject;

typedef struct MemoryStore MemoryStore;

// Takes no more than `bytes_max`. Belongs to `odb` from then on, which frees it; NULL on failure.
MemoryStore *memory_store_add(git_odb *odb, size_t bytes_max);
bool memory_store_is_full(const MemoryStore *store);
// In order of arrival; NULL after the last.
const MemoryObject *memory_store_object(const MemoryStore *store, size_t number);
