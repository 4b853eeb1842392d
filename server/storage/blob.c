// See blob.h.
#include "server/storage/blob.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/str.h"
#include "sql/git.h"

char *blob_path(const char *data, const char *sha) {
    assert(sha256_is_hex(sha));
    return xasprintf("%s/blobs/%.2s/%s", data, sha, sha);
}

// The entry of the folder itself must be on disk too. So the parent is synced.
static bool make_folder(const char *parent, const char *folder, Error *err) {
    struct stat st;
    if (stat(folder, &st) == 0)
        return true;
    return folder_make(folder, err) && folder_sync(parent, err);
}

static bool holds(const char *path, const void *bytes, size_t size) {
    struct stat st;
    Error ignored;
    size_t found;
    if (stat(path, &st) < 0 || (size_t)st.st_size != size)
        return false;
    char *there scope(free_ptr) = file_read(path, size, &found, &ignored);
    return there && found == size && memcmp(there, bytes, size) == 0;
}

// The lock of a folder of blobs. Writers share it, and the sweeper holds it alone. So the sweeper
// cannot remove a file that a writer has found there, before the writer has set its time. -1: the
// folder does not exist.
static int lock_folder(const char *folder, int how) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        flock(fd, how);
    return fd;
}

bool blob_put(const char *data, const void *bytes, size_t size, char sha[SHA256_HEX_MAX],
              Error *err) {
    sha256_hex(bytes, size, sha);
    char *parent scope(free_ptr) = xasprintf("%s/blobs", data);
    char *folder scope(free_ptr) = xasprintf("%s/%.2s", parent, sha);
    char *path scope(free_ptr) = blob_path(data, sha);
    // Another thread may have renamed the file and not yet synced the folder. This caller must not
    // return true before that sync. The bytes themselves were synced before the rename. If a bad
    // disk has changed them since, they are written again.
    if (!make_folder(data, parent, err) || !make_folder(parent, folder, err))
        return false;
    int lock scope(close_fd) = lock_folder(folder, LOCK_SH);
    if (lock < 0)
        return error_errno(err, "cannot open %s", folder);
    // The file's time becomes now, as if it had just been written.
    if (holds(path, bytes, size) && utimensat(AT_FDCWD, path, NULL, 0) == 0)
        return folder_sync(folder, err) && folder_sync(parent, err);
    return file_write_durable(path, bytes, size, err) && folder_sync(parent, err);
}

BlobRemoval blob_remove_older(const char *data, const char *sha, double than, int64_t *size) {
    char *path scope(free_ptr) = blob_path(data, sha);
    char *folder scope(free_ptr) = xasprintf("%s/blobs/%.2s", data, sha);
    int lock scope(close_fd) = lock_folder(folder, LOCK_EX);
    struct stat st;
    *size = 0;
    if (lock < 0 || stat(path, &st) < 0)
        return BLOB_GONE;
    if ((double)st.st_mtim.tv_sec >= than)
        return BLOB_YOUNG;
    *size = st.st_size;
    return unlink(path) == 0 ? BLOB_REMOVED : BLOB_GONE;
}

char *blob_get(const char *data, const char *sha, size_t max, size_t *size, Error *err) {
    char *path scope(free_ptr) = blob_path(data, sha);
    struct stat st;
    if (stat(path, &st) < 0)
        return error_set(err, 404, "no_such_blob", "there is no blob %s", sha), NULL;
    size_t length;
    char *bytes = file_read(path, max, &length, err);
    if (!bytes)
        return NULL;
    char found[SHA256_HEX_MAX];
    if (strcmp(sha256_hex(bytes, length, found), sha) != 0) {
        free_ptr(&bytes);
        return error_set(err, 500, "blob_damaged", "the SHA-256 of %s is not its name", path), NULL;
    }
    if (size)
        *size = length;
    return bytes;
}

bool blob_note(Db *db, const char *sha, size_t size, const char *kind, double now, Error *err) {
    return sql_blob_note(db, err, .sha256 = sha, .size = (int64_t)size, .kind = kind,
                         .created = now);
}
