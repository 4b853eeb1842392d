// What a process and all its descendants use at this moment, read from the system.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct OsTree {
    int *pids; // parents before children
    int count, capacity;
} OsTree;
void os_tree_release(OsTree *tree);

// `orphans`: also those of the child's process group that have lost their parent and became ours.
void os_tree_read(OsTree *tree, int pid, bool orphans);
// Children of our first thread, to which processes come that lost their parent (see
// os_become_subreaper), with those that it started itself.
void os_children_read(OsTree *tree);

// Memory is what is there: pages that are resident or swapped out, and the page tables, which grow
// with what is looked at even where nothing is resident.
typedef struct OsTreeUse {
    int64_t memory_bytes; // at most: what is shared is counted for each
    int64_t table_bytes;  // of that, the page tables
    int processes;        // with threads
} OsTreeUse;
void os_tree_use(const OsTree *tree, OsTreeUse *out);

// What they really have in memory: shared pages once, files not. Slow.
typedef struct OsTreeMemory {
    int64_t own_bytes;
    int64_t shared_bytes; // shared memory, as far as it is mapped
} OsTreeMemory;
void os_tree_memory(const OsTree *tree, OsTreeMemory *out);

// What lies in the file system in memory that the tree sees at `path`; 0 when none of that size is
// there (yet). A file counts some memory even when it is empty.
int64_t os_tree_tmpfs(const OsTree *tree, const char *path, int64_t size_bytes);

// Disk use of a folder, and of files in it that the tree holds though they are deleted: by a
// descriptor, or by a mapping, each file once. `more` becomes true when there may be more than
// that: of a file that is only mapped no more than the mapped part can be seen, and a process may
// hide its mappings.
int64_t os_tree_folder(const OsTree *tree, const char *folder, bool *more);
// The deleted ones alone, on the device of the folder.
int64_t os_tree_deleted(const OsTree *tree, const char *folder, uint64_t device, bool *more);
// Whether they have shared memory without a name. It lives as long as one page of it is mapped, so
// that there may be more of it than os_tree_memory sees.
bool os_tree_shares(const OsTree *tree);

// What the whole system uses, for a bound where the rest cannot be seen: the growth since a process
// was started is at least what it hides, unless others have given back.
typedef struct OsSystemUse {
    int64_t shared_bytes; // shared memory and file systems in memory
    int64_t disk_bytes;   // of the file system that holds `folder`; 0 where that is NULL
} OsSystemUse;
void os_system_use(const char *folder, OsSystemUse *out);
