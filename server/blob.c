// See blob.h.
#include "blob.h"

#include <assert.h>
#include <string.h>
#include <sys/stat.h>

#include "common/file.h"
#include "common/str.h"

char *blob_path(const char *data, const char *sha) {
    assert(sha256_is_hex(sha));
    return xasprintf("%s/blobs/%.2s/%s", data, sha, sha);
}

// The folder's own entry must be on disk too, hence the sync of its parent.
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

bool blob_put(const char *data, const void *bytes, size_t size, char sha[SHA256_HEX_MAX],
              Error *err) {
    sha256_hex(bytes, size, sha);
    char *parent scope(free_ptr) = xasprintf("%s/blobs", data);
    char *folder scope(free_ptr) = xasprintf("%s/%.2s", parent, sha);
    char *path scope(free_ptr) = blob_path(data, sha);
    // Another thread may have renamed the file and not yet synced the folder; this caller must not
    // be told "stored" before that. The bytes themselves were synced before they got their name.
    // What a bad disk has made of them since is put right.
    if (holds(path, bytes, size))
        return folder_sync(folder, err) && folder_sync(parent, err);
    return make_folder(data, parent, err) && make_folder(parent, folder, err) &&
           file_write_durable(path, bytes, size, err) && folder_sync(parent, err);
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
        return error_set(err, 500, "blob_damaged", "%s holds other bytes than its name says", path),
               NULL;
    }
    if (size)
        *size = length;
    return bytes;
}
