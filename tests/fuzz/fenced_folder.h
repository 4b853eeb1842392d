// For targets that write files: an inner folder to write to, in an outer one that must hold nothing
// else afterwards.
#pragma once

#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/file.h"

typedef struct Fence {
    char outer[64], inner[80];
} Fence;

static inline void fence_make(Fence *fence, const char *name) {
    Error err;
    snprintf(fence->outer, sizeof fence->outer, "/dev/shm/patchmate-fuzz-%s-%d", name,
             (int)getpid());
    snprintf(fence->inner, sizeof fence->inner, "%s/in", fence->outer);
    if (!folder_make(fence->inner, &err))
        abort();
}

static inline int fence_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)path, (void)type, (void)ftw;
    if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))
        abort();
    return 0;
}

// Nothing but files and folders in the inner one.
static inline void fence_is_plain(const Fence *fence) {
    nftw(fence->inner, fence_entry, 16, FTW_PHYS);
}

// Removes both; the outer one had the inner one and nothing else.
static inline void fence_remove(const Fence *fence) {
    Error err;
    if (!folder_remove(fence->inner, &err) || rmdir(fence->outer) < 0)
        abort();
}
