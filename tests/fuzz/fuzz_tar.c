// needs: worker common rules
// Snapshots: nothing comes out beside the folder, and nothing but files and folders in it.
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../server/common/file.h"
#include "../../worker/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char outer[64], inner[80];

static int check_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)path, (void)type, (void)ftw;
    if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))
        abort();
    return 0;
}

// The outer folder holds the inner one and nothing else: . and .. and two links of its own.
static void check_outer(void) {
    struct stat st;
    if (rmdir(inner) < 0 || lstat(outer, &st) < 0 || rmdir(outer) < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error err;
    snprintf(outer, sizeof outer, "/dev/shm/patchmate-fuzz-tar-%d", (int)getpid());
    snprintf(inner, sizeof inner, "%s/in", outer);
    if (!folder_make(inner, &err))
        abort();
    if (!unpack_memory(data, size, inner, &err) && !*err.message)
        abort();
    nftw(inner, check_entry, 16, FTW_PHYS);
    if (!folder_remove(inner, &err) || !folder_make(inner, &err))
        abort();
    check_outer();
    return 0;
}
