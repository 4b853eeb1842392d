// See out_file.h.
#include "worker/match_cli/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static bool sum_up(OutFile *file, Error *err) {
    char chunk[1 << 16];
    ssize_t n;
    int64_t at = 0;
    while ((n = pread(file->fd, chunk, sizeof chunk, at)) > 0) {
        file->crc = (uint32_t)crc32(file->crc, (const unsigned char *)chunk, (unsigned)n);
        at += n;
    }
    return n == 0 || error_errno(err, "cannot read %s", file->path);
}

static bool open_file(OutFile *file, const char *path, int flags, Error *err) {
    *file = (OutFile){.path = path, .fd = -1};
    file->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0666);
    return file->fd >= 0 || error_errno(err, "cannot open %s", path);
}

// A file that is not a regular file (a terminal, /dev/null) has no size and is never truncated.
static bool measure(OutFile *file, bool *plain, Error *err) {
    struct stat st;
    if (fstat(file->fd, &st) < 0)
        return error_errno(err, "cannot read the size of %s", file->path);
    *plain = S_ISREG(st.st_mode);
    file->size = *plain ? st.st_size : 0;
    return true;
}

bool out_file_open(OutFile *file, const char *path, bool append, bool summed, Error *err) {
    bool plain = false;
    *file = (OutFile){.fd = -1};
    if (!path)
        return true;
    if (!open_file(file, path, append ? 0 : O_TRUNC, err) || !measure(file, &plain, err))
        return false;
    file->summed = summed;
    return !summed || !plain || sum_up(file, err);
}

bool out_file_resume(OutFile *file, const char *path, int64_t size, bool summed, Error *err) {
    bool plain = false;
    *file = (OutFile){.fd = -1};
    if (!path)
        return true;
    if (!open_file(file, path, 0, err) || !measure(file, &plain, err))
        return false;
    if (plain && file->size < size)
        return error_set(err, 409, "file_short",
                         "%s has %lld bytes, but had %lld when the state was saved", path,
                         (long long)file->size, (long long)size);
    if (plain && ftruncate(file->fd, size) < 0)
        return error_errno(err, "cannot truncate %s", path);
    file->size = plain ? size : 0;
    file->summed = summed;
    return !summed || !plain || sum_up(file, err);
}

bool out_file_write(OutFile *file, const void *data, size_t size, Error *err) {
    const char *at = data;
    if (!file->path)
        return true;
    for (size_t left = size; left;) {
        ssize_t n = write(file->fd, at, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            error_errno(err, "cannot write %s", file->path);
            if (left < size && ftruncate(file->fd, file->size) < 0)
                error_prefix(err, "its last game is incomplete");
            return false;
        }
        at += n;
        left -= (size_t)n;
    }
    if (file->summed)
        file->crc = (uint32_t)crc32(file->crc, data, (unsigned)size);
    file->size += (int64_t)size;
    return true;
}

bool out_file_sync(const OutFile *file, Error *err) {
    bool fine = !file->path || fdatasync(file->fd) == 0 || errno == EINVAL || errno == EROFS;
    return fine || error_errno(err, "cannot sync %s", file->path);
}

void out_file_close(OutFile *file) {
    if (file->path && file->fd >= 0)
        close(file->fd);
    *file = (OutFile){.fd = -1};
}
