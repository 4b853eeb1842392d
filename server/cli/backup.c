// `server backup`: writes a running installation into one tar file. The database is copied first,
// by SQLite's online backup. Its rows refer only to blobs and commits that were on disk before
// their COMMIT. So the files that are read afterwards include all that the copy refers to. They may
// include more, which the server reconciles at its start.
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/cli/cli.h"
#include "server/common/file.h"
#include "server/common/str.h"

static void close_archive(struct archive **out) {
    archive_write_free(*out);
}

static bool archive_error(struct archive *out, const char *path, Error *err) {
    return error_set(err, 500, "", "cannot write %s to the archive: %s", path,
                     archive_error_string(out));
}

static bool add_bytes(struct archive *out, int fd, int64_t size, const char *path, Error *err) {
    char *chunk scope(free_ptr) = xmalloc(1 << 20);
    while (size > 0) {
        ssize_t n = read(fd, chunk, size < 1 << 20 ? (size_t)size : 1 << 20);
        if (n < 0)
            return error_errno(err, "cannot read %s", path);
        if (n == 0)
            return error_set(err, 500, "", "%s became shorter while it was read", path);
        if (archive_write_data(out, chunk, (size_t)n) < 0)
            return archive_error(out, path, err);
        size -= n;
    }
    return true;
}

static void entry_free(struct archive_entry **entry) {
    archive_entry_free(*entry);
}

static bool add_entry(struct archive *out, const char *path, const char *name, Error *err) {
    struct stat st;
    int fd scope(close_fd) = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT)
        return true; // a temporary file that was renamed meanwhile
    if (fd < 0 || fstat(fd, &st) < 0)
        return error_errno(err, "cannot read %s", path);
    struct archive_entry *entry scope(entry_free) = archive_entry_new();
    archive_entry_copy_stat(entry, &st);
    archive_entry_set_pathname(entry, name);
    if (archive_write_header(out, entry) != ARCHIVE_OK)
        return archive_error(out, path, err);
    return !S_ISREG(st.st_mode) || add_bytes(out, fd, st.st_size, path, err);
}

static void close_walk(FTS **walk) {
    if (*walk)
        fts_close(*walk);
}

// Adds the folder DATA/`name` and everything below, as `name`/… Loose objects of git are renamed
// when they are complete. Locks and temporary files are left out.
static bool add_tree(struct archive *out, const char *data, const char *name, Error *err) {
    char *top scope(free_ptr) = xasprintf("%s/%s", data, name);
    char *const tops[] = {top, NULL};
    FTS *walk scope(close_walk) = fts_open(tops, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (!walk)
        return error_errno(err, "cannot read %s", top);
    for (FTSENT *at; (at = fts_read(walk));) {
        bool wanted = at->fts_info == FTS_D || at->fts_info == FTS_F;
        bool passing = strstr(at->fts_name, ".lock") || strstr(at->fts_name, "tmp_");
        if (wanted && !passing &&
            !add_entry(out, at->fts_path, at->fts_path + strlen(data) + 1, err))
            return false;
    }
    return true;
}

static bool archive_fill(struct archive *out, const char *data, const char *copy, int fd,
                         Error *err) {
    if (archive_write_set_format_pax_restricted(out) != ARCHIVE_OK ||
        archive_write_open_fd(out, fd) != ARCHIVE_OK)
        return archive_error(out, "the beginning", err);
    if (!add_entry(out, copy, "patchmate.db", err) || !add_tree(out, data, "blobs", err) ||
        !add_tree(out, data, "git", err))
        return false;
    return archive_write_close(out) == ARCHIVE_OK || archive_error(out, "the end", err);
}

static bool backup(const char *data, const char *file, Error *err) {
    char *copy scope(free_ptr) = xasprintf("%s.database", file);
    char *path scope(free_ptr) = xasprintf("%s/patchmate.db", data);
    int fd scope(close_fd) = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_errno(err, "cannot create %s", file);
    Db *db = db_open(path, true, err);
    bool good = db && db_backup(db, copy, err);
    db_close(db);
    struct archive *out scope(close_archive) = archive_write_new();
    good = good && archive_fill(out, data, copy, fd, err);
    if (good && fsync(fd) < 0)
        good = error_errno(err, "cannot sync %s", file);
    unlink(copy);
    if (!good)
        unlink(file);
    return good;
}

int command_backup(int argc, char **argv) {
    Error err;
    if (argc != 3)
        return 2;
    if (!backup(argv[1], argv[2], &err))
        return command_failed(&err);
    printf("%s is written. To restore it into a new folder:\n"
           "  mkdir -m 700 NEW && tar -xpf %s -C NEW && server check NEW && server run NEW\n",
           argv[2], argv[2]);
    return 0;
}
