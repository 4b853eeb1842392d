// Applies a patch to a tree, file by file. libgit2 does the work; before it is asked, the lines of
// each hunk are compared with the file, because its refusals name neither file nor hunk.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "patch.h"

typedef struct Apply {
    git_repository *repo;
    git_tree *tree;  // so far
    int plain_strip; // folders to strip of plain diffs, -1: not known yet
    Error *err;
} Apply;

// ---- which file is meant

static git_filemode_t mode_in_tree(const Apply *a, const char *path) {
    git_tree_entry *entry = NULL;
    if (git_tree_entry_bypath(&entry, a->tree, path) < 0)
        return GIT_FILEMODE_UNREADABLE;
    git_filemode_t mode = git_tree_entry_filemode(entry);
    git_tree_entry_free(entry);
    return mode;
}

static bool is_file(const Apply *a, const char *path) {
    git_filemode_t mode = mode_in_tree(a, path);
    return mode == GIT_FILEMODE_BLOB || mode == GIT_FILEMODE_BLOB_EXECUTABLE;
}

// The path less `count` leading folders; NULL when it has fewer.
static const char *strip_folders(const char *path, int count) {
    for (; path && count > 0; count--) {
        path = strchr(path, '/');
        path += path ? strspn(path, "/") : 0;
    }
    return path && *path ? path : NULL;
}

// "engine/search.c" in a repository whose top is what that folder holds.
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

// How many folders a plain diff's names have too many: the fewest with which one exists.
static int find_strip(const Apply *a, const PatchFile *file) {
    for (int n = 0; n < 8; n++) {
        const char *old = file->old_path ? strip_folders(file->old_path, n) : NULL;
        const char *new = file->new_path ? strip_folders(file->new_path, n) : NULL;
        if ((old && is_file(a, old)) || (new &&is_file(a, new)))
            return n;
    }
    return -1;
}

// `diff -ruN old new` makes files too: the others tell how much is to be stripped, if any is there.
static void find_plain_strip(Apply *a, const PatchMail *mail) {
    a->plain_strip = -1;
    for (int i = 0; i < mail->file_count && a->plain_strip < 0; i++)
        if (mail->files[i].plain)
            a->plain_strip = find_strip(a, &mail->files[i]);
}

static bool resolve_plain(const Apply *a, PatchFile *file) {
    int n = find_strip(a, file);
    n = n < 0 ? a->plain_strip : n;
    // Nothing here is known: then the name counts as it stands, less the usual "a/" or "b/".
    if (n < 0 && !patch_path_check(file->new_path ? file->new_path : file->old_path, a->err))
        return false;
    n = n < 0 ? 1 : n;
    const char *old = file->old_path ? strip_folders(file->old_path, n) : NULL;
    const char *new = file->new_path ? strip_folders(file->new_path, n) : NULL;
    if (!old && !new) { // "new.c", made at the top
        old = file->old_path;
        new = file->new_path;
    }
    const char *path = new && (is_file(a, new) || !old) ? new : old &&is_file(a, old) ? old : new;
    char *chosen scope(free_ptr) = xstrdup(path);
    // A plain diff cannot rename: "x.c.orig" and "x.c" are the same file.
    bool first_hunk_makes = file->hunks[0].old_count == 0 && file->hunks[0].old_start == 0;
    bool made = !file->old_path || (first_hunk_makes && !is_file(a, chosen));
    bool gone = !file->new_path;
    replace_path(&file->old_path, made ? NULL : chosen);
    replace_path(&file->new_path, gone ? NULL : chosen);
    return patch_path_check(chosen, a->err);
}

static bool resolve_paths(const Apply *a, PatchFile *file) {
    if (file->plain)
        return resolve_plain(a, file);
    strip_engine(a, &file->old_path);
    strip_engine(a, &file->new_path);
    return (!file->old_path || patch_path_check(file->old_path, a->err)) &&
           (!file->new_path || patch_path_check(file->new_path, a->err));
}

// ---- does it fit

static bool refuse(const Apply *a, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool refuse(const Apply *a, const char *path, const char *format, ...) {
    char what[700];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return error_field(a->err, 422, "patch_does_not_apply", "patch", "%.200s%s", path, what);
}

// A new file's folders must not be files, nor the file a folder.
static bool check_new_place(const Apply *a, const char *path) {
    if (mode_in_tree(a, path) != GIT_FILEMODE_UNREADABLE)
        return refuse(a, path, ": the patch makes this file, but the base has it already");
    char *parent scope(free_ptr) = xstrdup(path);
    for (char *slash; (slash = strrchr(parent, '/'));) {
        *slash = 0;
        if (is_file(a, parent))
            return refuse(a, path, ": %.200s is a file in the base, not a folder", parent);
    }
    return true;
}

static bool check_old_place(const Apply *a, const char *path) {
    git_filemode_t mode = mode_in_tree(a, path);
    if (mode == GIT_FILEMODE_BLOB || mode == GIT_FILEMODE_BLOB_EXECUTABLE)
        return true;
    if (mode == GIT_FILEMODE_UNREADABLE)
        return refuse(a, path,
                      ": the base has no such file; was the patch made against another base, or in "
                      "another folder?");
    return refuse(a, path, " is no plain file in the base");
}

static char *shown_line(const char *text, size_t size) {
    char *clean = patch_utf8(text, size < 100 ? size : 100);
    clean[strcspn(clean, "\n")] = 0;
    return clean;
}

static bool refuse_line(const Apply *a, const PatchFile *file, int number, long line,
                        const char *found, size_t found_size, const char *wanted,
                        size_t wanted_size) {
    char *has scope(free_ptr) = shown_line(found, found_size);
    char *wants scope(free_ptr) = shown_line(wanted, wanted_size);
    bool newline = strcmp(has, wants) == 0;
    return refuse(a, file->old_path,
                  ", hunk %d: line %ld differs: the base has '%s', the patch expects '%s'%s. Lines "
                  "are not searched for at other places: make the patch against the chosen base",
                  number, line, has, wants,
                  newline ? " (the difference is in its end: line ends or a missing newline)" : "");
}

// The file's lines from where a hunk begins, beside those that the hunk expects.
static bool check_hunk(const Apply *a, const PatchFile *file, int number, PatchCursor *content) {
    const PatchHunk *hunk = &file->hunks[number - 1];
    const char *has, *wants;
    size_t has_size, wants_size;
    // With no old lines, old_start is the line before; "-0,0" is the top of a file.
    long first = hunk->old_count ? hunk->old_start : hunk->old_start + 1;
    if (first <= content->line)
        return refuse(a, file->old_path, ", hunk %d: begins before the hunk above it ends", number);
    while (content->line < first - 1)
        if (!patch_line(content, &has, &has_size))
            return refuse(a, file->old_path,
                          ", hunk %d: is for line %ld, but the base's file ends at line %d", number,
                          first, content->line);
    PatchCursor lines = {hunk->lines, hunk->lines + hunk->size, 0};
    while (patch_line(&lines, &wants, &wants_size)) {
        if (wants_size && (*wants == '+' || *wants == '\\'))
            continue;
        wants += wants_size > 0, wants_size -= wants_size > 0;
        bool wants_newline = lines.p >= lines.end || *lines.p != '\\';
        if (!patch_line(content, &has, &has_size))
            return refuse(a, file->old_path,
                          ", hunk %d: the base's file ends at line %d, the patch expects more",
                          number, content->line);
        bool has_newline = content->p[-1] == '\n';
        if (has_size != wants_size || memcmp(has, wants, has_size) != 0 ||
            has_newline != wants_newline)
            return refuse_line(a, file, number, content->line, has, has_size, wants, wants_size);
    }
    return true;
}

static bool check_hunks(const Apply *a, const PatchFile *file) {
    git_tree_entry *entry = NULL;
    git_blob *blob = NULL;
    bool read = git_tree_entry_bypath(&entry, a->tree, file->old_path) == 0 &&
                git_blob_lookup(&blob, a->repo, git_tree_entry_id(entry)) == 0;
    git_tree_entry_free(entry);
    if (!read)
        return repo_error(a->err, 500, "git", file->old_path);
    const char *text = git_blob_rawcontent(blob);
    PatchCursor content = {text, text + git_blob_rawsize(blob), 0};
    bool ok = true;
    for (int i = 1; ok && i <= file->hunk_count; i++)
        ok = check_hunk(a, file, i, &content);
    const char *rest;
    size_t size;
    if (ok && !file->new_path && !file->binary && patch_line(&content, &rest, &size))
        ok = refuse(a, file->old_path,
                    ": the patch takes this file away, but the base's has more lines (line %d)",
                    content.line);
    git_blob_free(blob);
    return ok;
}

static bool check_file(const Apply *a, const PatchFile *file) {
    bool moved = file->new_path && (!file->old_path || strcmp(file->old_path, file->new_path) != 0);
    return (!file->old_path || check_old_place(a, file->old_path)) &&
           (!moved || check_new_place(a, file->new_path)) &&
           (!file->old_path || file->binary || check_hunks(a, file));
}

// ---- apply

// A change of mode says what the file's mode was; libgit2 does not look.
static void complete_modes(const Apply *a, PatchFile *file) {
    if (!file->old_path)
        return;
    unsigned mode = mode_in_tree(a, file->old_path);
    bool changes = file->new_mode && file->old_mode != file->new_mode;
    file->old_mode = mode;
    if (!changes)
        file->new_mode = mode;
}

static bool apply_diff(Apply *a, const PatchFile *file, git_diff *diff) {
    git_index *index = NULL;
    git_oid oid;
    git_tree *tree = NULL;
    git_error_clear();
    errno = 0;
    bool ok = git_apply_to_tree(&index, a->repo, a->tree, diff, NULL) == 0 &&
              git_index_write_tree_to(&oid, index, a->repo) == 0 &&
              git_tree_lookup(&tree, a->repo, &oid) == 0;
    int problem = errno;
    git_index_free(index);
    if (!ok) {
        const git_error *e = git_error_last();
        errno = problem;
        if (!e || e->klass == GIT_ERROR_OS) // the disk's fault, not the patch's
            return repo_error(a->err, 500, "git", "the patched tree cannot be written");
        return refuse(a, file->new_path ? file->new_path : file->old_path, ": %.300s", e->message);
    }
    git_tree_free(a->tree);
    a->tree = tree;
    return true;
}

enum { BINARY_BYTES_MAX = 64 << 20 };

static bool inflates(const git_diff_binary_file *part) {
    if (part->type == GIT_DIFF_BINARY_NONE)
        return true;
    if (part->inflatedlen > BINARY_BYTES_MAX)
        return false;
    uLongf size = part->inflatedlen;
    Bytef *out = xmalloc(size + 1);
    int code = uncompress(out, &size, (const Bytef *)part->data, part->datalen);
    free(out);
    return code == Z_OK && size == part->inflatedlen;
}

static int check_binary(const git_diff_delta *delta, const git_diff_binary *binary, void *unused) {
    (void)delta, (void)unused;
    return inflates(&binary->old_file) && inflates(&binary->new_file) ? 0 : -1;
}

// libgit2 1.5 never returns from compressed data that ends too early.
static bool binaries_are_whole(git_diff *diff) {
    return git_diff_foreach(diff, NULL, check_binary, NULL, NULL, NULL) == 0;
}

static bool apply_file(Apply *a, PatchFile *file) {
    if (!resolve_paths(a, file) || !check_file(a, file))
        return false;
    complete_modes(a, file);
    Str text scope(str_release);
    str_init(&text, PATCH_BYTES_MAX * 2);
    patch_file_write(file, &text);
    git_diff *diff = NULL;
    const char *path = file->new_path ? file->new_path : file->old_path;
    if (git_diff_from_buffer(&diff, text.data, text.size) < 0) {
        const git_error *e = git_error_last();
        return refuse(a, path, ": %.300s", e ? e->message : "cannot be read");
    }
    bool ok = git_diff_num_deltas(diff) != 1 ? refuse(a, path, ": cannot be read")
              : !binaries_are_whole(diff)    ? refuse(a, path, ": its binary data is damaged")
                                             : apply_diff(a, file, diff);
    git_diff_free(diff);
    return ok;
}

bool patch_apply(git_repository *repo, const PatchMail *mail, const git_oid *base, git_oid *tree,
                 Error *err) {
    Apply a = {.repo = repo, .err = err};
    if (git_tree_lookup(&a.tree, repo, base) < 0)
        return repo_error(err, 500, "git", "the base's tree cannot be read");
    find_plain_strip(&a, mail);
    bool ok = true;
    for (int i = 0; ok && i < mail->file_count; i++)
        ok = apply_file(&a, &mail->files[i]);
    bool changed = !git_oid_equal(git_tree_id(a.tree), base);
    git_oid_cpy(tree, git_tree_id(a.tree));
    git_tree_free(a.tree);
    if (ok && !changed)
        ok = error_field(err, 422, "patch_changes_nothing", "patch",
                         "the patch changes nothing: the base is the same with and without it");
    return ok;
}
