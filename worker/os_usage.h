// What a process and all its descendants use at this moment, read from the system.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct OsTree {
    int *pids; // parents before children
    int count, capacity;
} OsTree;
void os_tree_release(OsTree *tree);

// `strays`: also those of the child's process group that have lost their parent and became ours.
void os_tree_read(OsTree *tree, int pid, bool strays);
// Children of our first thread, to which processes come that lost their parent (see
// os_adopt_strays), with those that it started itself.
void os_children_read(OsTree *tree);

typedef struct OsTreeUse {
    int64_t resident_bytes; // at most: what is shared is counted for each
    int processes;          // with threads
} OsTreeUse;
void os_tree_use(const OsTree *tree, OsTreeUse *out);
// What they really have in memory: shared pages once, files not. Slow.
int64_t os_tree_memory(const OsTree *tree);
// What lies in the file system in memory that the tree sees at `path`; 0 when none of that size is
// there (yet). A file counts some memory even when it is empty.
int64_t os_tree_tmpfs(const OsTree *tree, const char *path, int64_t size_bytes);
// Disk use of a folder, and of files in it that the tree holds open though they are deleted.
int64_t os_tree_folder(const OsTree *tree, const char *folder);
