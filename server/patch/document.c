// The diff of a test, for the page on which a maintainer approves it. Files that could do harm come
// first. Every byte is shown, or the document says that it is not. The document does not use git's
// test for binary files: one NUL would hide the rest of a source file. Everything is shown as text,
// except large files with NULs, which are named by their SHA-256.
//
// The diff of a test has two parts: the patch against its base, and the base against the baseline
// if the base is not in the baseline's history. Together they are all code that volunteers build
// and that the engine's maintainers have not merged.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/common/visible.h"
#include "server/patch/patch.h"
#include "server/patch/reaches.h"
#include "server/patch/risky_path.h"
#include "server/patch/shown.h"

enum { BINARY_SHOWN_MAX = 64 << 10 };

typedef struct Document {
    git_repository *repo;
    json_t *risky, *harmless;    // files
    json_t *file, *risks, *hunk; // borrowed: the ones that are being built
    DiffLimits left;
    bool truncated;
    int unseen;
    int64_t additions, deletions, file_additions, file_deletions;
} Document;

static json_t *visible_string(const char *text, size_t size) {
    Str clean scope(str_release);
    str_init(&clean, size * VISIBLE_ESCAPE_MAX + 1);
    visible_add(&clean, text, size, false);
    return json_stringn(clean.data ? clean.data : "", clean.size);
}

// ---- risks --------------------------------------------------------------------------------------

static void add_risk(Document *d, const char *risk) {
    size_t i;
    json_t *there;
    json_array_foreach (d->risks, i, there) {
        if (strcmp(json_string_value(there), risk) == 0)
            return;
    }
    json_array_append_new(d->risks, json_string(risk));
}

static bool becomes_executable(const git_diff_delta *delta) {
    return delta->new_file.mode == GIT_FILEMODE_BLOB_EXECUTABLE &&
           delta->old_file.mode != GIT_FILEMODE_BLOB_EXECUTABLE;
}

static bool is_risky_by_name(const git_diff_delta *delta) {
    const char *new = delta->new_file.path, *old = delta->old_file.path;
    return path_decides_build(new) || path_decides_build(old) || path_is_hidden(new) ||
           path_is_hidden(old) || becomes_executable(delta);
}

static void add_risks(Document *d, const git_diff_delta *delta, bool binary) {
    if (path_decides_build(delta->new_file.path) || path_decides_build(delta->old_file.path))
        add_risk(d, "build file");
    if (path_is_hidden(delta->new_file.path) || path_is_hidden(delta->old_file.path))
        add_risk(d, "workflow");
    if (becomes_executable(delta))
        add_risk(d, "new executable");
    if (binary)
        add_risk(d, "binary");
}

// ---- lines --------------------------------------------------------------------------------------

static const char *kind_of(const git_diff_line *line) {
    return line->origin == GIT_DIFF_LINE_ADDITION   ? "add"
           : line->origin == GIT_DIFF_LINE_DELETION ? "delete"
           : line->origin == GIT_DIFF_LINE_CONTEXT  ? "context"
                                                    : "note";
}

static json_t *number_of(int number) {
    return number > 0 ? json_integer(number) : json_null();
}

static void add_line(Document *d, const git_diff_line *line, size_t size) {
    static const char note[] = "no newline at the end of the file";
    const char *kind = kind_of(line);
    bool is_note = *kind == 'n';
    ShownLine shown = is_note ? shown_line(note, sizeof note - 1) : shown_line(line->content, size);
    if (*kind == 'a' && shown.hidden)
        add_risk(d, "hidden characters");
    if (*kind == 'a' && shown.is_long)
        add_risk(d, "long line");
    if (*kind == 'a' && line_reaches_out(line->content, size))
        add_risk(d, "system call");
    json_array_append_new(json_object_get(d->hunk, "lines"),
                          json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "kind", kind, "old_no",
                                    number_of(line->old_lineno), "new_no",
                                    number_of(line->new_lineno), "text", shown.text, "bytes",
                                    shown.is_long ? json_integer((json_int_t)size) : json_null(),
                                    "parts", shown.parts));
}

// Counts every line, and keeps it if there is room.
static void take_line(Document *d, const git_diff_line *line) {
    size_t size = line->content_len;
    size -= size && line->content[size - 1] == '\n';
    d->file_additions += line->origin == GIT_DIFF_LINE_ADDITION;
    d->file_deletions += line->origin == GIT_DIFF_LINE_DELETION;
    if (d->left.lines > 0 && d->left.bytes >= size) {
        d->left.lines--, d->left.bytes -= size;
        add_line(d, line, size);
        return;
    }
    d->left = (DiffLimits){0}; // no later line may take the place of a long one
    d->truncated = true;
    json_object_set_new(d->file, "truncated", json_true());
}

static void take_hunk(Document *d, git_patch *patch, size_t number) {
    const git_diff_hunk *hunk;
    size_t count;
    if (git_patch_get_hunk(&hunk, &count, patch, number) < 0)
        return;
    size_t size = strcspn(hunk->header, "\r\n");
    d->hunk = json_pack("{s:o, s:[]}", "header", visible_string(hunk->header, size), "lines");
    for (size_t i = 0; i < count; i++) {
        const git_diff_line *line;
        if (git_patch_get_line_in_hunk(&line, patch, number, i) == 0)
            take_line(d, line);
    }
    if (json_array_size(json_object_get(d->hunk, "lines")))
        json_array_append(json_object_get(d->file, "hunks"), d->hunk);
    json_decref(d->hunk);
}

// ---- files --------------------------------------------------------------------------------------

static const char *status_of(const git_diff_delta *delta) {
    switch (delta->status) {
    case GIT_DELTA_ADDED:
        return "added";
    case GIT_DELTA_DELETED:
        return "deleted";
    case GIT_DELTA_RENAMED:
        return "renamed";
    default:
        return "modified";
    }
}

static json_t *mode_string(unsigned mode) {
    char text[8];
    snprintf(text, sizeof text, "%06o", mode & 0777777);
    return mode ? json_string(text) : json_null();
}

static bool is_binary(const git_blob *blob) {
    return blob && git_blob_is_binary(blob);
}

static size_t size_of(const git_blob *blob) {
    return blob ? (size_t)git_blob_rawsize(blob) : 0;
}

static json_t *content_name(const git_blob *blob) {
    char sha[SHA256_HEX_MAX];
    if (!blob)
        return json_null();
    sha256_hex(git_blob_rawcontent(blob), size_of(blob), sha);
    return json_pack("{s:I, s:s}", "size", (json_int_t)size_of(blob), "sha256", sha);
}

static bool take_file(Document *d, git_diff *diff, size_t number, const git_blob *old,
                      const git_blob *new, Error *err) {
    const git_diff_delta *delta = git_diff_get_delta(diff, number);
    bool binary = is_binary(old) || is_binary(new);
    bool too_large = binary && size_of(old) + size_of(new) > BINARY_SHOWN_MAX;
    d->risks = json_array();
    d->file =
        json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:b, s:n, s:[], s:b}", "path",
                  visible_string(delta->new_file.path, strlen(delta->new_file.path)), "old_path",
                  visible_string(delta->old_file.path, strlen(delta->old_file.path)), "status",
                  status_of(delta), "mode", mode_string(delta->new_file.mode), "old_mode",
                  mode_string(delta->old_file.mode), "risk", d->risks, "binary", (int)binary,
                  "unseen", "hunks", "truncated", 0);
    d->file_additions = d->file_deletions = 0;
    add_risks(d, delta, binary);
    bool same = git_oid_equal(&delta->old_file.id, &delta->new_file.id);
    bool ok = true;
    if (too_large && !same) {
        // A deleted file is not unseen: its content was approved before.
        d->unseen += new != NULL;
        json_object_set_new(d->file, "unseen", content_name(new));
    } else if (!same) {
        git_patch *patch = NULL;
        ok = git_patch_from_diff(&patch, diff, number) == 0 ||
             repo_error(err, 500, "git", "the diff cannot be made");
        for (size_t i = 0; ok && i < git_patch_num_hunks(patch); i++)
            take_hunk(d, patch, i);
        git_patch_free(patch);
    }
    json_object_set_new(d->file, "additions", json_integer(d->file_additions));
    json_object_set_new(d->file, "deletions", json_integer(d->file_deletions));
    d->additions += d->file_additions;
    d->deletions += d->file_deletions;
    json_array_append_new(json_array_size(d->risks) ? d->risky : d->harmless, d->file);
    return ok;
}

// Finds the content of a file on one side; NULL if the file does not exist there.
static bool find_blob(Document *d, const git_diff_file *file, git_blob **blob, Error *err) {
    return git_oid_is_zero(&file->id) || git_blob_lookup(blob, d->repo, &file->id) == 0 ||
           repo_error(err, 500, "git", file->path);
}

static bool open_file(Document *d, git_diff *diff, size_t number, Error *err) {
    const git_diff_delta *delta = git_diff_get_delta(diff, number);
    git_blob *old = NULL, *new = NULL;
    bool ok = find_blob(d, &delta->old_file, &old, err) &&
              find_blob(d, &delta->new_file, &new, err) &&
              take_file(d, diff, number, old, new, err);
    git_blob_free(old);
    git_blob_free(new);
    return ok;
}

// Files that are risky whatever they contain come first, so that there is room for their lines.
static bool take_files(Document *d, git_diff *diff, Error *err) {
    size_t count = git_diff_num_deltas(diff);
    bool ok = true;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; ok && i < count; i++)
            if (is_risky_by_name(git_diff_get_delta(diff, i)) == (pass == 0))
                ok = open_file(d, diff, i, err);
    return ok;
}

// ---- the whole ----------------------------------------------------------------------------------

static bool find_diff(git_repository *repo, const char *base, const char *commit, git_diff **diff,
                      Error *err) {
    git_tree *old scope(repo_tree_free) = NULL, *changed scope(repo_tree_free) = NULL;
    if (!repo_commit_tree(repo, base, &old, err) || !repo_commit_tree(repo, commit, &changed, err))
        return false;
    git_diff_options options;
    git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
    options.flags = GIT_DIFF_FORCE_TEXT | GIT_DIFF_INCLUDE_TYPECHANGE;
    return (git_diff_tree_to_tree(diff, repo, old, changed, &options) == 0 &&
            git_diff_find_similar(*diff, NULL) == 0) ||
           repo_error(err, 500, "git", "the diff cannot be made");
}

json_t *patch_document(git_repository *repo, const char *base, const char *commit,
                       DiffLimits limits, Error *err) {
    git_diff *diff = NULL;
    Document d = {.repo = repo, .risky = json_array(), .harmless = json_array(), .left = limits};
    bool ok = find_diff(repo, base, commit, &diff, err) && take_files(&d, diff, err);
    git_diff_free(diff);
    int risky = (int)json_array_size(d.risky);
    json_array_extend(d.risky, d.harmless);
    json_decref(d.harmless);
    if (!ok) {
        json_decref(d.risky);
        return NULL;
    }
    return json_pack("{s:o, s:I, s:I, s:i, s:b, s:i}", "files", d.risky, "additions",
                     (json_int_t)d.additions, "deletions", (json_int_t)d.deletions, "risky", risky,
                     "truncated", (int)d.truncated, "unseen_files", d.unseen);
}

// The base is compared with the nearest commit that is also in the baseline's history. Code that
// was merged into the baseline since that commit is not part of what the base adds.
static json_t *base_document(git_repository *repo, const char *base, const char *baseline,
                             DiffLimits limits, Error *err) {
    char from[REPO_SHA_MAX];
    if (repo_is_ancestor(repo, base, baseline))
        return json_null();
    if (!repo_common_ancestor(repo, base, baseline, from))
        snprintf(from, sizeof from, "%s", baseline);
    json_t *document = patch_document(repo, from, base, limits, err);
    if (document)
        json_object_set_new(document, "from", json_string(from));
    return document;
}

json_t *patch_test_document(git_repository *repo, const DiffCommits *commits, DiffLimits limits,
                            Error *err) {
    json_auto_t *document = patch_document(repo, commits->base, commits->patch, limits, err);
    json_t *below =
        document ? base_document(repo, commits->base, commits->baseline, limits, err) : NULL;
    if (!below)
        return NULL;
    json_object_set_new(document, "base_diff", below);
    return json_incref(document);
}
