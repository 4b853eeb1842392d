// A store of git's objects in memory, for libgit2. New objects are written to it. An object that is
// read may come from it or from any other store of the repository.
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

// Stores at most `bytes_max`. `odb` owns the store and frees it; NULL on failure.
MemoryStore *memory_store_add(git_odb *odb, size_t bytes_max);
bool memory_store_is_full(const MemoryStore *store);
// The objects in the order in which they were written; NULL after the last.
const MemoryObject *memory_store_object(const MemoryStore *store, size_t number);
