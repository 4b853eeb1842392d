// See place_files.h.
#include "worker/build/place_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/str.h"
#include "worker/build/unpack.h"

// As many bytes as there are, up to `size`; -1 on error.
static ssize_t read_full(int fd, char *to, size_t size) {
    size_t got = 0;
    for (ssize_t n; got < size && (n = read(fd, to + got, size - got)) != 0; got += (size_t)n)
        if (n < 0)
            return -1;
    return (ssize_t)got;
}

static bool same_bytes(int a, int b) {
    struct stat st;
    char one[16384], other[16384];
    if (fstat(b, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    for (;;) {
        ssize_t n = read_full(a, one, sizeof one), m = read_full(b, other, sizeof other);
        if (n < 0 || n != m || memcmp(one, other, (size_t)n) != 0)
            return false;
        if (n == 0)
            return true;
    }
}

static BuildOutcome broken(const char *what, const char *path, Error *err) {
    error_errno(err, "%s %s", what, path);
    return BUILD_BROKEN;
}

// Why unpack_create failed, by errno. A file of the tree is never replaced: the sources must be
// those that were approved.
static BuildOutcome judge_place(int blob, const char *tree, const char *path, Error *err) {
    bool taken = errno == EEXIST;
    if (!taken && errno != ENOTDIR && errno != ELOOP)
        return broken("cannot place", path, err);
    int there scope(close_fd) = taken ? unpack_open(tree, path) : -1;
    if (there >= 0 && same_bytes(blob, there))
        return BUILD_DONE;
    error_set(err, 422, "build_failed", "cannot place %s: the sources have %s", path,
              taken ? "another file at its path" : "a file in place of its folder");
    return BUILD_FAILED;
}

static BuildOutcome lay_down(const Store *store, const TaskFile *file, const char *tree,
                             Error *err) {
    char *from scope(free_ptr) = store_blob(store, file->blob);
    int in scope(close_fd) = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (in < 0)
        return broken("cannot open", from, err);
    int out scope(close_fd) = unpack_create(tree, file->path, 0644);
    if (out < 0)
        return judge_place(in, tree, file->path, err);
    return fd_copy(in, out) && fsync(out) == 0 ? BUILD_DONE
                                               : broken("cannot write", file->path, err);
}

BuildOutcome place_files(const Store *store, const TaskFiles *files, const char *tree, Error *err) {
    BuildOutcome outcome = BUILD_DONE;
    for (int i = 0; i < files->count && outcome == BUILD_DONE; i++)
        outcome = lay_down(store, &files->items[i], tree, err);
    return outcome;
}
