// See tree.h.
#include "server/git/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/path.h"
#include "server/common/str.h"

// ---- folder to tree

typedef struct Import {
    git_repository *repo;
    git_index *index;
    const char *folder;
    int files, depth;
    Error *err;
} Import;

static bool add_file(Import *in, const char *path, const char *full, const struct stat *st) {
    size_t size;
    char *bytes scope(free_ptr) = file_read(full, REPO_FILE_BYTES_MAX, &size, in->err);
    if (!bytes)
        return false;
    if (size >= 4 && memcmp(bytes,
                            "\x7f"
                            "ELF",
                            4) == 0)
        return true;
    git_index_entry entry = {.path = path,
                             .mode = st->st_mode & S_IXUSR ? GIT_FILEMODE_BLOB_EXECUTABLE
                                                           : GIT_FILEMODE_BLOB};
    if (++in->files > REPO_FILES_MAX)
        return error_set(in->err, 422, "tree_too_large", "%s has over %d files", in->folder,
                         REPO_FILES_MAX);
    if (!path_check(path, in->err))
        return error_prefix(in->err, "%s", full);
    if (git_blob_create_from_buffer(&entry.id, in->repo, bytes, size) < 0 ||
        git_index_add(in->index, &entry) < 0)
        return repo_error(in->err, 500, "git", full);
    return true;
}

static bool add_folder(Import *in, const char *prefix);

static bool add_entry(Import *in, const char *prefix, const char *name) {
    char *path scope(free_ptr) = xasprintf("%s%s", prefix, name);
    char *full scope(free_ptr) = xasprintf("%s/%s", in->folder, path);
    struct stat st;
    if (lstat(full, &st) < 0)
        return error_errno(in->err, "cannot read %s", full);
    bool is_folder = S_ISDIR(st.st_mode);
    char *rule_path scope(free_ptr) = xasprintf("%s%s", path, is_folder ? "/" : "");
    int ignored = 0;
    git_ignore_path_is_ignored(&ignored, in->repo, rule_path);
    if (ignored || (!is_folder && !S_ISREG(st.st_mode)))
        return true;
    return is_folder ? add_folder(in, rule_path) : add_file(in, path, full, &st);
}

static void close_folder(DIR **dir) {
    if (*dir)
        closedir(*dir);
}

static bool add_folder(Import *in, const char *prefix) {
    char *full scope(free_ptr) = xasprintf("%s/%s", in->folder, prefix);
    DIR *dir scope(close_folder) = opendir(full);
    if (!dir)
        return error_errno(in->err, "cannot read folder %s", full);
    if (in->depth > 20)
        return error_set(in->err, 422, "tree_too_deep", "the folder %s is over 20 levels deep",
                         full);
    in->depth++;
    bool ok = true;
    for (struct dirent *entry; ok && (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            strcmp(entry->d_name, ".git") != 0)
            ok = add_entry(in, prefix, entry->d_name);
    in->depth--;
    return ok;
}

// The rules apply to this handle only. No file is written.
static void set_ignore_rules(git_repository *repo, const char *folder) {
    char *path scope(free_ptr) = xasprintf("%s/.gitignore", folder);
    Error ignored;
    char *own scope(free_ptr) = file_read(path, 65536, NULL, &ignored);
    char *rules scope(free_ptr) =
        xasprintf("obj/\nbuild/\n*.o\n*.a\n*.d\n*.so\n*.swp\n*~\n%s\n", own ? own : "");
    git_ignore_clear_internal_rules(repo);
    git_ignore_add_rule(repo, rules);
}

bool repo_tree_import(git_repository *repo, const char *folder, git_oid *tree, Error *err) {
    Import in = {.repo = repo, .folder = folder, .err = err};
    set_ignore_rules(repo, folder);
    if (git_index_new(&in.index) < 0)
        return repo_error(err, 500, "git", "the index cannot be made");
    bool ok = add_folder(&in, "");
    if (ok && !in.files)
        ok = error_set(err, 422, "tree_empty", "%s has no source files", folder);
    if (ok && git_index_write_tree_to(tree, in.index, repo) < 0)
        ok = repo_error(err, 500, "git", "the tree cannot be written");
    git_index_free(in.index);
    return ok && repo_sync(repo, err);
}

// ---- tree to folder

typedef struct Export {
    git_repository *repo;
    const char *folder;
    Error *err;
} Export;

static bool write_file(const Export *out, const char *path, git_filemode_t mode,
                       const git_blob *blob) {
    int fd scope(close_fd) = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                                  mode == GIT_FILEMODE_BLOB_EXECUTABLE ? 0755 : 0644);
    if (fd < 0)
        return error_errno(out->err, "cannot create %s", path);
    const char *p = git_blob_rawcontent(blob);
    for (size_t left = (size_t)git_blob_rawsize(blob); left;) {
        ssize_t n = write(fd, p, left);
        if (n < 0)
            return error_errno(out->err, "cannot write %s", path);
        p += n, left -= (size_t)n;
    }
    return true;
}

static int visit(const char *root, const git_tree_entry *entry, void *payload) {
    Export *out = payload;
    git_filemode_t mode = git_tree_entry_filemode(entry);
    char *path scope(free_ptr) =
        xasprintf("%s/%s%s", out->folder, root, git_tree_entry_name(entry));
    if (mode == GIT_FILEMODE_TREE)
        return folder_make(path, out->err) ? 0 : -1;
    if (mode != GIT_FILEMODE_BLOB && mode != GIT_FILEMODE_BLOB_EXECUTABLE) {
        error_set(out->err, 422, "tree_unsafe", "%s is a link or a submodule", path);
        return -1;
    }
    git_blob *blob = NULL;
    if (git_blob_lookup(&blob, out->repo, git_tree_entry_id(entry)) < 0) {
        repo_error(out->err, 500, "git", path);
        return -1;
    }
    bool ok = write_file(out, path, mode, blob);
    git_blob_free(blob);
    return ok ? 0 : -1;
}

bool repo_tree_export(git_repository *repo, const char *commit, const char *folder, Error *err) {
    if (rmdir(folder) < 0 && errno != ENOENT)
        return error_set(err, 409, "not_empty", "%s exists and is not empty", folder);
    Export out = {.repo = repo, .folder = folder, .err = err};
    git_tree *tree scope(repo_tree_free) = NULL;
    if (!repo_commit_tree(repo, commit, &tree, err) || !folder_make(folder, err))
        return false;
    *err = (Error){0};
    if (git_tree_walk(tree, GIT_TREEWALK_PRE, visit, &out) == 0)
        return true;
    return err->message[0] ? false : repo_error(err, 500, "git", "the tree cannot be read");
}
