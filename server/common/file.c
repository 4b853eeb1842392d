// See file.h.
#include "server/common/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/str.h"

// A temporary file has the name of its target, this mark, and the characters that mkstemp adds.
#define TEMPORARY_MARK ".new-"
enum { TEMPORARY_RANDOM = 6 };

char *file_read(const char *path, size_t max, size_t *size, Error *err) {
    int fd scope(close_fd) = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, "cannot open %s", path), NULL;
    Str text;
    str_init(&text, max);
    char chunk[65536];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof chunk)) > 0 && !text.overflow)
        str_add(&text, chunk, (size_t)n);
    if (n < 0 || text.overflow) {
        if (n < 0)
            error_errno(err, "cannot read %s", path);
        else
            error_set(err, 413, "too_large", "%s is over %zu bytes", path, max);
        str_release(&text);
        return NULL;
    }
    if (size)
        *size = text.size;
    return str_steal(&text);
}

static bool write_all(int fd, const char *data, size_t size) {
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

bool fd_copy(int from, int to) {
    char chunk[65536];
    for (ssize_t n; (n = read(from, chunk, sizeof chunk)) != 0;)
        if (n < 0 || !write_all(to, chunk, (size_t)n))
            return false;
    return true;
}

bool folder_sync(const char *path, Error *err) {
    int fd scope(close_fd) = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) < 0)
        return error_errno(err, "cannot sync folder %s", path);
    return true;
}

static bool parent_sync(const char *path, Error *err) {
    char *parent scope(free_ptr) = xstrdup(path);
    char *slash = strrchr(parent, '/');
    if (!slash)
        return folder_sync(".", err);
    slash[slash == parent] = 0;
    return folder_sync(parent, err);
}

// The lock tells folder_sweep() that the writer of the file is alive. If a sweep removes the file
// before it is locked, another one is made.
static int temporary_open(char *name) {
    size_t length = strlen(name) - TEMPORARY_RANDOM;
    for (;;) {
        memset(name + length, 'X', TEMPORARY_RANDOM);
        int fd = mkostemp(name, O_CLOEXEC);
        struct stat st;
        if (fd < 0 || (flock(fd, LOCK_EX | LOCK_NB) == 0 && stat(name, &st) == 0))
            return fd;
        close(fd);
    }
}

static bool write_durable(const char *path, const void *data, size_t size, mode_t mode,
                          Error *err) {
    char *temporary scope(free_ptr) = xasprintf("%s%sXXXXXX", path, TEMPORARY_MARK);
    int fd scope(close_fd) = temporary_open(temporary);
    if (fd < 0)
        return error_errno(err, "cannot create %s", temporary);
    if (!write_all(fd, data, size) || fchmod(fd, mode) < 0 || fsync(fd) < 0 ||
        rename(temporary, path) < 0) {
        error_errno(err, "cannot write %s", path);
        unlink(temporary);
        return false;
    }
    return parent_sync(path, err);
}

bool file_write_durable(const char *path, const void *data, size_t size, Error *err) {
    return write_durable(path, data, size, 0644, err);
}

bool file_write_secret(const char *path, const void *data, size_t size, Error *err) {
    return write_durable(path, data, size, 0600, err);
}

static int sweep_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st;
    size_t length = strlen(path + ftw->base), end = sizeof TEMPORARY_MARK - 1 + TEMPORARY_RANDOM;
    if (type != FTW_F || length <= end ||
        strncmp(path + ftw->base + length - end, TEMPORARY_MARK, sizeof TEMPORARY_MARK - 1) != 0)
        return 0;
    int fd scope(close_fd) = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlink(path);
    return 0;
}

void folder_sweep(const char *path) {
    nftw(path, sweep_entry, 32, FTW_PHYS | FTW_MOUNT);
}

bool folder_make(const char *path, Error *err) {
    char *copy scope(free_ptr) = xstrdup(path);
    for (char *p = copy + 1;; p++) {
        if (*p && *p != '/')
            continue;
        char saved = *p;
        *p = 0;
        if (mkdir(copy, 0755) < 0 && errno != EEXIST)
            return error_errno(err, "cannot create folder %s", copy);
        *p = saved;
        if (!saved)
            return true;
    }
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

bool folder_remove(const char *path, Error *err) {
    struct stat st;
    if (lstat(path, &st) < 0 && errno == ENOENT)
        return true;
    if (nftw(path, remove_entry, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) < 0)
        return error_errno(err, "cannot remove %s", path);
    return true;
}
