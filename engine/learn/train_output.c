// Writes files under a temporary name and renames them, so that an incomplete file is never seen.
#include "learn/train_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "learn/whole_file.h"

enum { PATH_SIZE = 4096, READ_MOST = 1 << 30 };

static bool path_join(char out[PATH_SIZE], const char *folder, const char *name, const char *suffix,
                      Refusal *err) {
    int length = snprintf(out, PATH_SIZE, "%s/%s%s", folder, name, suffix);
    return length < PATH_SIZE || refused(err, "%s: the path is too long", folder);
}

static bool write_all(const char *path, const void *bytes, size_t size) {
    FILE *out = fopen(path, "wb");
    if (!out)
        return false;
    bool good = fwrite(bytes, 1, size, out) == size && fflush(out) == 0 && fsync(fileno(out)) == 0;
    return (fclose(out) == 0) && good;
}

// A rename is on disk only after its folder is synced.
static bool sync_folder(const char *folder) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY);
    bool good = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

bool output_write(const char *folder, const char *name, const void *bytes, size_t size,
                  Refusal *err) {
    char path[PATH_SIZE], fresh[PATH_SIZE];
    if (!path_join(path, folder, name, "", err) || !path_join(fresh, folder, name, ".new", err))
        return false;
    if (write_all(fresh, bytes, size) && rename(fresh, path) == 0 && sync_folder(folder))
        return true;
    refused(err, "%s: %s", path, strerror(errno));
    unlink(fresh); // on a full disk, an incomplete file would take room from the next one
    return false;
}

bool output_folder(const char *folder, Refusal *err) {
    if (mkdir(folder, 0777) == 0 || errno == EEXIST)
        return true;
    return refused(err, "%s: %s", folder, strerror(errno));
}

bool output_exists(const char *folder, const char *name) {
    char path[PATH_SIZE];
    Refusal unused = {""};
    return path_join(path, folder, name, "", &unused) && access(path, F_OK) == 0;
}

void *output_read(const char *folder, const char *name, size_t *size, Refusal *err) {
    char path[PATH_SIZE];
    Refusal why;
    if (!path_join(path, folder, name, "", err))
        return NULL;
    void *bytes = whole_file_read(path, READ_MOST, size, &why);
    if (!bytes)
        refused(err, "%s: %s", path, why.message);
    return bytes;
}
