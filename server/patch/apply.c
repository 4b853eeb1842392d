// Applies a patch to a tree, file by file. The files go into one index, and the tree is written
// once. This module applies hunks (fit.c) and binary parts (binary.c) itself. libgit2 could do it,
// but its refusals name neither file nor hunk, and it hangs on compressed data that ends too early.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/path.h"
#include "server/patch/patch.h"

typedef struct Apply {
    git_repository *repo;
    git_index *index; // the tree so far
    int plain_strip;  // folders to strip from the names of plain diffs; -1: not known yet
    Error *err;
} Apply;

enum { STRIP_MAX = 8 };

// ---- which file is meant

static git_filemode_t mode_in_tree(const Apply *a, const char *path) {
    const git_index_entry *entry = git_index_get_bypath(a->index, path, 0);
    if (entry)
        return entry->mode;
    char *below scope(free_ptr) = xasprintf("%s/", path);
    size_t at;
    return git_index_find_prefix(&at, a->index, below) == 0 ? GIT_FILEMODE_TREE
                                                            : GIT_FILEMODE_UNREADABLE;
}

static bool is_file(const Apply *a, const char *path) {
    git_filemode_t mode = mode_in_tree(a, path);
    return mode == GIT_FILEMODE_BLOB || mode == GIT_FILEMODE_BLOB_EXECUTABLE;
}

// The path without its `count` first folders; NULL if it has fewer.
static const char *strip_folders(const char *path, int count) {
    for (; path && count > 0; count--) {
        path = strchr(path, '/');
        path += path ? strspn(path, "/") : 0;
    }
    return path && *path ? path : NULL;
}

// Strips "engine/" from "engine/search.c" if the top of the repository is that folder.
static void strip_engine(const Apply *a, char **path) {
    static const char prefix[] = "engine/";
    if (*path && strncmp(*path, prefix, sizeof prefix - 1) == 0 &&
        mode_in_tree(a, "engine") != GIT_FILEMODE_TREE)
        memmove(*path, *path + sizeof prefix - 1, strlen(*path) - sizeof prefix + 2);
}

static void replace_path(char **path, const char *with) {
    char *copy = with ? xstrdup(with) : NULL;
    free(*path);
    *path = copy;
}

// The number of folders to strip from the names of a plain diff: the smallest number with which one
// of the names exists in the tree. -1: there is none.
static int find_strip(const Apply *a, const PatchFile *file) {
    const char *const names[] = {file->old_path, file->new_path};
    for (int n = 0; n < STRIP_MAX; n++)
        for (int i = 0; i < 2; i++) {
            const char *path = strip_folders(names[i], n);
            if (path && is_file(a, path))
                return n;
        }
    return -1;
}

// The file that a plain diff changes. It has two names, each stripped or, if that is not possible,
// whole. The first name that exists in the tree is taken, or else the first name. A plain diff
// cannot rename: "x.c.orig" and "x.c" are the same file.
static const char *choose_plain(const Apply *a, const PatchFile *file, int strip) {
    const char *const stripped[] = {strip_folders(file->new_path, strip),
                                    strip_folders(file->old_path, strip)};
    const char *const whole[] = {file->new_path, file->old_path}; // "new.c", a new file at the top
    const char *const *names = stripped[0] || stripped[1] ? stripped : whole;
    for (int i = 0; i < 2; i++)
        if (names[i] && is_file(a, names[i]))
            return names[i];
    return names[0] ? names[0] : names[1];
}

static bool resolve_plain(const Apply *a, PatchFile *file) {
    int strip = find_strip(a, file);
    strip = strip < 0 ? a->plain_strip : strip;
    // No name exists in the tree. Then the name counts without its usual "a/" or "b/".
    if (strip < 0 && !path_check(file->new_path ? file->new_path : file->old_path, a->err))
        return false;
    char *path scope(free_ptr) = xstrdup(choose_plain(a, file, strip < 0 ? 1 : strip));
    const PatchHunk *first = &file->hunks[0];
    bool from_nothing = first->old_count == 0 && first->old_start == 0;
    bool made = !file->old_path || (from_nothing && !is_file(a, path)), gone = !file->new_path;
    replace_path(&file->old_path, made ? NULL : path);
    replace_path(&file->new_path, gone ? NULL : path);
    return path_check(path, a->err);
}

static bool resolve_paths(const Apply *a, PatchFile *file) {
    if (file->plain)
        return resolve_plain(a, file);
    strip_engine(a, &file->old_path);
    strip_engine(a, &file->new_path);
    return (!file->old_path || path_check(file->old_path, a->err)) &&
           (!file->new_path || path_check(file->new_path, a->err));
}

// ---- does it fit

// The folders of a new file must not be files, and the file must not be a folder.
static bool check_new_place(const Apply *a, const char *path) {
    if (mode_in_tree(a, path) != GIT_FILEMODE_UNREADABLE)
        return patch_refuse(a->err, path,
                            ": the patch creates this file, but the base has it already");
    char *parent scope(free_ptr) = xstrdup(path);
    for (char *slash; (slash = strrchr(parent, '/'));) {
        *slash = 0;
        if (is_file(a, parent))
            return patch_refuse(a->err, path, ": %.200s is a file in the base, not a folder",
                                parent);
    }
    return true;
}

static bool check_old_place(const Apply *a, const char *path) {
    git_filemode_t mode = mode_in_tree(a, path);
    if (mode == GIT_FILEMODE_BLOB || mode == GIT_FILEMODE_BLOB_EXECUTABLE)
        return true;
    if (mode == GIT_FILEMODE_UNREADABLE)
        return patch_refuse(
            a->err, path,
            ": the base has no such file; was the patch made against another base, or in "
            "another folder?");
    return patch_refuse(a->err, path, " is not a plain file in the base");
}

// ---- apply

// A change of mode states the file's old mode. It counts as stated only if it differs from the new
// mode.
static void complete_modes(const Apply *a, PatchFile *file) {
    if (!file->old_path)
        return;
    unsigned mode = mode_in_tree(a, file->old_path);
    bool changes = file->new_mode && file->old_mode != file->new_mode;
    file->old_mode = mode;
    if (!changes)
        file->new_mode = mode;
}

// `id` is the old content, and becomes the new content.
static bool apply_content(const Apply *a, const PatchFile *file, git_oid *id) {
    git_blob *blob = NULL;
    if (!file->hunk_count && !file->binary && file->old_path && file->new_path)
        return true;
    if (file->old_path && git_blob_lookup(&blob, a->repo, id) < 0)
        return repo_error(a->err, 500, "git", file->old_path);
    const char *old = blob ? git_blob_rawcontent(blob) : "";
    size_t size = blob ? (size_t)git_blob_rawsize(blob) : 0;
    Str out scope(str_release);
    str_init(&out, file->binary ? PATCH_CONTENT_MAX : size + 2 * PATCH_BYTES_MAX);
    bool ok = file->binary ? patch_fit_binary(file, old, size, &out, a->err)
                           : patch_fit(file, old, size, &out, a->err);
    git_blob_free(blob);
    if (!ok || !file->new_path)
        return ok;
    errno = 0;
    git_error_clear();
    return git_blob_create_from_buffer(id, a->repo, out.size ? out.data : "", out.size) == 0 ||
           repo_error(a->err, 500, "git", "the patched file cannot be written");
}

static bool put_into_index(const Apply *a, const PatchFile *file, const git_oid *id) {
    if (file->old_path && git_index_remove(a->index, file->old_path, 0) < 0)
        return repo_error(a->err, 500, "git", file->old_path);
    if (!file->new_path)
        return true;
    git_index_entry entry = {.path = file->new_path,
                             .mode = file->new_mode ? file->new_mode : GIT_FILEMODE_BLOB,
                             .id = *id};
    if (git_index_add(a->index, &entry) == 0)
        return true;
    const git_error *e = git_error_last();
    return patch_refuse(a->err, file->new_path, ": %.300s",
                        e ? e->message : "is not a usable file name");
}

static bool apply_file(const Apply *a, PatchFile *file) {
    if (!resolve_paths(a, file) || (file->old_path && !check_old_place(a, file->old_path)))
        return false;
    bool moved = file->new_path && (!file->old_path || strcmp(file->old_path, file->new_path) != 0);
    if (moved && !check_new_place(a, file->new_path))
        return false;
    complete_modes(a, file);
    git_oid id = {0};
    if (file->old_path)
        git_oid_cpy(&id, &git_index_get_bypath(a->index, file->old_path, 0)->id);
    return apply_content(a, file, &id) && put_into_index(a, file, &id);
}

static bool is_same(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

// A diff names each file once. A diff that changes one file many times would make all its versions.
static bool is_named_once(const Apply *a, const PatchMail *mail, int number) {
    const PatchFile *file = &mail->files[number];
    for (int i = 0; i < number; i++)
        if (is_same(mail->files[i].old_path, file->old_path) ||
            is_same(mail->files[i].new_path, file->new_path))
            return patch_refuse(a->err, patch_file_name(file), ": the patch names this file twice");
    return true;
}

static bool apply_files(Apply *a, const PatchMail *mail) {
    // `diff -ruN old new` makes new files too, whose names are not in the tree. For them, the
    // number of folders to strip comes from another file of the patch.
    a->plain_strip = -1;
    for (int i = 0; i < mail->file_count && a->plain_strip < 0; i++)
        if (mail->files[i].plain)
            a->plain_strip = find_strip(a, &mail->files[i]);
    for (int i = 0; i < mail->file_count; i++)
        if (!apply_file(a, &mail->files[i]) || !is_named_once(a, mail, i))
            return false;
    return true;
}

static bool open_index(Apply *a, const git_oid *base) {
    git_tree *tree = NULL;
    bool ok = git_index_new(&a->index) == 0 && git_tree_lookup(&tree, a->repo, base) == 0 &&
              git_index_read_tree(a->index, tree) == 0;
    git_tree_free(tree);
    return ok || repo_error(a->err, 500, "git", "the base's tree cannot be read");
}

bool patch_apply(git_repository *repo, const PatchMail *mail, const git_oid *base, git_oid *tree,
                 Error *err) {
    Apply a = {.repo = repo, .err = err};
    git_oid made;
    bool ok = open_index(&a, base) && apply_files(&a, mail);
    if (ok && git_index_write_tree_to(&made, a.index, repo) < 0)
        ok = repo_error(err, 500, "git", "the patched tree cannot be written");
    git_index_free(a.index);
    if (ok && git_oid_equal(&made, base))
        ok = error_field(err, 422, "patch_changes_nothing", "patch",
                         "the patch changes nothing: the base is the same with and without it");
    if (ok)
        git_oid_cpy(tree, &made);
    return ok;
}
