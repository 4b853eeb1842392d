// See unpack.h. libarchive reads the format; every entry is judged here before it touches the disk,
// and opened step by step relative to the folder with links refused.
#include "worker/build/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/str.h"

typedef struct Unpack {
    struct archive *archive;
    int root; // descriptor of the folder
    int files;
    size_t bytes;
} Unpack;

static bool bad_entry(Error *err, const char *path, const char *what) {
    return error_set(err, 422, "bad_archive", "the snapshot's entry '%.200s' %s", path, what);
}

static bool archive_failed(Unpack *u, Error *err) {
    const char *text = archive_error_string(u->archive);
    return error_set(err, 422, "bad_archive", "the snapshot cannot be read: %.200s",
                     text ? text : "unknown format");
}

static bool is_dots(const char *part, size_t size) {
    return (size == 1 && part[0] == '.') || (size == 2 && part[0] == '.' && part[1] == '.');
}

static bool has_control(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < 32 || *text == 127)
            return true;
    return false;
}

static bool path_is_inside(const char *path) {
    if (!path || !*path || *path == '/' || strlen(path) > UNPACK_PATH_MAX)
        return false;
    for (const char *part = path; *part;) {
        size_t n = strcspn(part, "/");
        if (n == 0 || is_dots(part, n))
            return false;
        part += n + (part[n] == '/');
    }
    return true;
}

static int step_into(int parent, const char *name) {
    if (mkdirat(parent, name, 0755) < 0 && faccessat(parent, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
        return -1;
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// The folder that `path` lies in, made if it is missing; *last is the part of `path` after it.
// -1: it cannot be opened or made.
static int open_parent(int root, char *path, char **last) {
    int at = fcntl(root, F_DUPFD_CLOEXEC, 0);
    for (char *slash; at >= 0 && (slash = strchr(path, '/'));) {
        *slash = 0;
        int next = step_into(at, path);
        close(at);
        at = next;
        path = slash + 1;
    }
    *last = path;
    return at;
}

static bool write_chunk(int fd, const char *bytes, size_t size, off_t offset) {
    while (size) {
        ssize_t n = pwrite(fd, bytes, size, offset);
        if (n <= 0)
            return false;
        bytes += n;
        size -= (size_t)n;
        offset += n;
    }
    return true;
}

static bool copy_data(Unpack *u, int fd, const char *path, Error *err) {
    const void *bytes;
    size_t size;
    la_int64_t offset;
    for (int status;;) {
        status = archive_read_data_block(u->archive, &bytes, &size, &offset);
        if (status == ARCHIVE_EOF)
            return true;
        if (status != ARCHIVE_OK)
            return archive_failed(u, err);
        u->bytes += size;
        if (u->bytes > UNPACK_BYTES_MAX || offset > UNPACK_BYTES_MAX)
            return bad_entry(err, path, "makes the tree too large");
        if (!write_chunk(fd, bytes, size, offset))
            return error_errno(err, "cannot write %s", path);
    }
}

static bool write_entry(Unpack *u, struct archive_entry *entry, const char *path, Error *err) {
    char *copy scope(free_ptr) = xstrdup(path), *last;
    size_t n = strlen(copy);
    if (copy[n - 1] == '/')
        copy[n - 1] = 0;
    int parent scope(close_fd) = open_parent(u->root, copy, &last);
    if (parent < 0)
        return error_errno(err, "cannot make the folder of %s", path);
    if (archive_entry_filetype(entry) == AE_IFDIR) {
        int fd scope(close_fd) = step_into(parent, last);
        return fd >= 0 || error_errno(err, "cannot make folder %s", path);
    }
    mode_t mode = archive_entry_perm(entry) & 0100 ? 0755 : 0644;
    int fd scope(close_fd) = openat(parent, last, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0)
        return error_errno(err, "cannot create %s", path);
    return copy_data(u, fd, path, err);
}

static bool take_entry(Unpack *u, struct archive_entry *entry, Error *err) {
    const char *path = archive_entry_pathname(entry);
    if (!path_is_inside(path))
        return bad_entry(err, path ? path : "", "leads out of the tree");
    if (has_control(path))
        return error_set(err, 422, "bad_archive", "a name in the snapshot has a control character");
    mode_t type = archive_entry_filetype(entry);
    if (archive_entry_perm(entry) & (S_ISUID | S_ISGID | S_ISVTX))
        return bad_entry(err, path, "asks for the rights of another user");
    if ((type != AE_IFREG && type != AE_IFDIR) || archive_entry_hardlink(entry) ||
        archive_entry_symlink(entry))
        return bad_entry(err, path, "is neither a file nor a folder");
    if (++u->files > UNPACK_FILES_MAX)
        return bad_entry(err, path, "is one file too many");
    if (archive_entry_size(entry) > UNPACK_BYTES_MAX)
        return bad_entry(err, path, "is too large");
    return write_entry(u, entry, path, err);
}

// git's own archives open with a pax header that names the commit; libarchive takes it as no entry.
static bool take_all(Unpack *u, Error *err) {
    for (;;) {
        struct archive_entry *entry;
        int status = archive_read_next_header(u->archive, &entry);
        if (status == ARCHIVE_EOF)
            return true;
        if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
            return archive_failed(u, err);
        if (!take_entry(u, entry, err))
            return false;
    }
}

static void free_archive(struct archive **archive) {
    archive_read_free(*archive);
}

static struct archive *new_reader(void) {
    struct archive *archive = archive_read_new();
    archive_read_support_format_tar(archive); // no filters: a snapshot is not compressed
    return archive;
}

static bool unpack(struct archive *archive, const char *folder, Error *err) {
    int root scope(close_fd) = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return error_errno(err, "cannot open %s", folder);
    Unpack u = {archive, root, 0, 0};
    return take_all(&u, err);
}

bool unpack_file(const char *tar, const char *folder, Error *err) {
    struct archive *archive scope(free_archive) = new_reader();
    if (archive_read_open_filename(archive, tar, 65536) != ARCHIVE_OK)
        return archive_failed(&(Unpack){.archive = archive}, err);
    return unpack(archive, folder, err);
}

bool unpack_memory(const void *tar, size_t size, const char *folder, Error *err) {
    struct archive *archive scope(free_archive) = new_reader();
    if (archive_read_open_memory(archive, tar, size) != ARCHIVE_OK)
        return archive_failed(&(Unpack){.archive = archive}, err);
    return unpack(archive, folder, err);
}

// ---- single files -------------------------------------------------------------------------------

int unpack_create(const char *folder, const char *path, mode_t mode) {
    char *copy scope(free_ptr) = xstrdup(path), *last;
    int root scope(close_fd) = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int parent scope(close_fd) = root < 0 ? -1 : open_parent(root, copy, &last);
    return parent < 0 ? -1 : openat(parent, last, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

int unpack_open(const char *folder, const char *path) {
    char *copy scope(free_ptr) = xstrdup(path), *rest = copy;
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (char *slash; at >= 0 && (slash = strchr(rest, '/')); rest = slash + 1) {
        *slash = 0;
        int next = openat(at, rest, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(at);
        at = next;
    }
    int file = at < 0 ? -1 : openat(at, rest, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close_fd(&at);
    return file;
}
