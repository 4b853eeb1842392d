// What a process and all its descendants use at this moment, read from the system.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct OsTree {
    int *pids; // parents before children
    int count, capacity;
} OsTree;
void os_tree_release(OsTree *tree);

// Lists the process `pid` and its descendants.
void os_tree_read(OsTree *tree, int pid);
// Lists the descendants only.
void os_tree_read_below(OsTree *tree, int pid);
// Lists the children of our first thread: those that it started, and those whose parent has ended
// (see os_become_subreaper).
void os_children_read(OsTree *tree);

// Memory is all pages that are resident or swapped out, and the page tables. Page tables grow with
// every page that is accessed, even if no page stays resident.
typedef struct OsTreeUse {
    int64_t memory_bytes; // an upper bound: shared memory is counted for each process
    int64_t table_bytes;  // the page tables, which are part of memory_bytes
    int64_t kernel_bytes; // the most that the kernel may hold for descriptors and threads
    int processes;        // with their threads
} OsTreeUse;
void os_tree_use(const OsTree *tree, OsTreeUse *out);

// The exact memory use: shared pages are counted once, pages of files not at all. Slow.
typedef struct OsTreeMemory {
    int64_t own_bytes;
    int64_t shared_bytes; // the mapped part of shared memory
} OsTreeMemory;
void os_tree_memory(const OsTree *tree, OsTreeMemory *out);

// The use of the file system in memory that the processes see at `path`; 0 if there is none of that
// size (yet). An empty file counts some bytes too.
int64_t os_tree_tmpfs(const OsTree *tree, const char *path, int64_t size_bytes);

// Disk use of a folder, including deleted files that a process still holds by a descriptor or a
// mapping; each file counts once. `more` becomes true when the use may be larger: only the mapped
// part of a mapped file is visible, and a process may hide its mappings.
int64_t os_tree_folder(const OsTree *tree, const char *folder, bool *more);
// The deleted files alone; `device` is that of the folder.
int64_t os_tree_deleted(const OsTree *tree, const char *folder, uint64_t device, bool *more);
// Whether a process has anonymous shared memory. All of it exists as long as one page is mapped, so
// there may be more of it than os_tree_memory sees.
bool os_tree_shares(const OsTree *tree);

// The most that the kernel may hold for the mappings of the processes. Slow, so it stops counting
// at `enough_bytes`.
int64_t os_tree_mappings(const OsTree *tree, int64_t enough_bytes);

// What the whole system uses. Its growth since a process was started is a bound for the memory or
// disk space that the process hides, unless other processes have released some.
typedef struct OsSystemUse {
    int64_t shared_bytes; // shared memory and file systems in memory
    int64_t kernel_bytes; // the kernel's own memory: neither pages of programs nor caches of files
    int64_t disk_bytes;   // of the file system of `folder`; 0 if `folder` is NULL
} OsSystemUse;
void os_system_use(const char *folder, OsSystemUse *out);
