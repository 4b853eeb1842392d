// See snapshot.h.
#include "server/git/snapshot.h"

#include <archive.h>
#include <archive_entry.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/common/path.h"
#include "server/common/visible.h"
#include "server/storage/blob.h"

typedef struct Writer {
    git_repository *repo;
    struct archive *archive;
    size_t bytes;
    int files;
    char *last; // path of the file before
    Error *err;
} Writer;

static la_ssize_t append(struct archive *archive, void *out, const void *bytes, size_t size) {
    (void)archive;
    Str *text = out;
    str_add(text, bytes, size);
    return text->overflow ? -1 : (la_ssize_t)size;
}

static bool write_file(Writer *w, const char *path, git_filemode_t mode, const git_blob *blob) {
    struct archive_entry *entry = archive_entry_new();
    size_t size = (size_t)git_blob_rawsize(blob);
    archive_entry_set_pathname(entry, path);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, mode == GIT_FILEMODE_BLOB_EXECUTABLE ? 0755 : 0644);
    archive_entry_set_size(entry, (la_int64_t)size);
    archive_entry_set_mtime(entry, 0, 0);
    bool ok = archive_write_header(w->archive, entry) == ARCHIVE_OK &&
              archive_write_data(w->archive, git_blob_rawcontent(blob), size) == (la_ssize_t)size;
    archive_entry_free(entry);
    if (!ok)
        return error_set(w->err, 500, "snapshot", "%s: %s", path, archive_error_string(w->archive));
    return true;
}

static bool check_limits(Writer *w, const git_blob *blob) {
    w->bytes += (size_t)git_blob_rawsize(blob);
    if (++w->files > SNAPSHOT_FILES_MAX || w->bytes > SNAPSHOT_BYTES_MAX)
        return error_set(w->err, 422, "snapshot_too_large",
                         "the source tree has over %d files or %d MiB; an engine's source must be "
                         "smaller",
                         SNAPSHOT_FILES_MAX, SNAPSHOT_BYTES_MAX >> 20);
    return true;
}

// Trees are walked in the order of full paths; git sorts a folder as if its name ended in '/'. If a
// tree is out of order or has a name twice, the snapshot could differ from what git's comparison of
// trees shows. So such a tree is refused.
static bool check_order(Writer *w, const char *path) {
    bool ordered = !w->last || strcmp(w->last, path) < 0;
    free(w->last);
    w->last = xstrdup(path);
    return ordered || error_set(w->err, 422, "snapshot_unsafe",
                                "the tree names %s twice or not in git's order", path);
}

static int visit(const char *root, const git_tree_entry *entry, void *payload) {
    Writer *w = payload;
    git_filemode_t mode = git_tree_entry_filemode(entry);
    char *path scope(free_ptr) = xasprintf("%s%s", root, git_tree_entry_name(entry));
    if (mode == GIT_FILEMODE_TREE)
        return 0;
    if (!path_is_plain(path)) {
        char shown[400];
        visible_copy(shown, sizeof shown, path, strlen(path), false);
        error_set(w->err, 422, "snapshot_path",
                  "'%s' is not a valid file name: a name has at most 400 bytes, all of them "
                  "printable ASCII",
                  shown);
        return -1;
    }
    if (!check_order(w, path))
        return -1;
    if (mode == GIT_FILEMODE_LINK || mode == GIT_FILEMODE_COMMIT) {
        error_set(w->err, 422, "snapshot_unsafe", "%s is a %s, which cannot be built from", path,
                  mode == GIT_FILEMODE_LINK ? "symbolic link" : "submodule");
        return -1;
    }
    git_blob *blob = NULL;
    if (git_blob_lookup(&blob, w->repo, git_tree_entry_id(entry)) < 0) {
        repo_error(w->err, 500, "git", path);
        return -1;
    }
    bool ok = check_limits(w, blob) && write_file(w, path, mode, blob);
    git_blob_free(blob);
    return ok ? 0 : -1;
}

static bool write_tree(Writer *w, const char *sha, Str *out) {
    git_tree *tree scope(repo_tree_free) = NULL;
    if (!repo_commit_tree(w->repo, sha, &tree, w->err))
        return false;
    // pax restricted: plain ustar, with extensions only for names that are too long for it.
    archive_write_set_format_pax_restricted(w->archive);
    archive_write_add_filter_none(w->archive);
    archive_write_set_bytes_in_last_block(w->archive, 1);
    *w->err = (Error){0};
    bool ok = archive_write_open(w->archive, out, NULL, append, NULL) == ARCHIVE_OK &&
              git_tree_walk(tree, GIT_TREEWALK_PRE, visit, w) == 0 &&
              archive_write_close(w->archive) == ARCHIVE_OK;
    if (!ok && !w->err->status)
        error_set(w->err, 500, "snapshot", "the snapshot cannot be written");
    return ok;
}

bool snapshot_make(git_repository *repo, const char *commit, Str *out, Error *err) {
    Writer w = {.repo = repo, .archive = archive_write_new(), .err = err};
    bool ok = write_tree(&w, commit, out);
    archive_write_free(w.archive);
    free(w.last);
    return ok;
}

bool snapshot_hash(git_repository *repo, const char *commit, char sha[SHA256_HEX_MAX], Error *err) {
    Str tar scope(str_release);
    str_init(&tar, SNAPSHOT_TAR_MAX);
    if (!snapshot_make(repo, commit, &tar, err))
        return false;
    sha256_hex(tar.data, tar.size, sha);
    return true;
}

bool snapshot_again(git_repository *repo, const char *commit, const char *sha, Str *out,
                    Error *err) {
    char found[SHA256_HEX_MAX];
    if (!snapshot_make(repo, commit, out, err))
        return false;
    return strcmp(sha256_hex(out->data, out->size, found), sha) == 0 ||
           error_set(err, 500, "snapshot_differs",
                     "the snapshot of commit %.10s had the SHA-256 %s; made again, it has %s",
                     commit, sha, found);
}

bool snapshot_store(git_repository *repo, const char *commit, const char *sha, const char *data,
                    Error *err) {
    char stored[SHA256_HEX_MAX];
    char *path scope(free_ptr) = blob_path(data, sha);
    if (access(path, R_OK) == 0)
        return true;
    Str tar scope(str_release);
    str_init(&tar, SNAPSHOT_TAR_MAX);
    return snapshot_again(repo, commit, sha, &tar, err) &&
           blob_put(data, tar.data, tar.size, stored, err);
}
