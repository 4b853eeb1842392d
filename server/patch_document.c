// The diff of a test for the page on which a maintainer decides: what could do harm comes first.
#include <stdlib.h>
#include <string.h>

#include "patch.h"

enum { LINE_BYTES_MAX = 2000 };

typedef struct Document {
    json_t *files, *file, *hunk; // borrowed but for files
    int lines, lines_max;
    int64_t additions, deletions, file_additions, file_deletions;
} Document;

static json_t *utf8_string(const char *text, size_t size) {
    char *clean scope(free_ptr) = patch_utf8(text, size);
    return json_string(clean);
}

// ---- risks

static bool ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcasecmp(text + a - b, end) == 0;
}

// What decides how the engine is built, and so runs on the machines of others outside the engine.
static bool is_build_file(const char *path) {
    static const char *const names[] = {"makefile",    "gnumakefile", "cmakelists.txt",
                                        "meson.build", "configure",   "build.ninja",
                                        "build.rs",    "cargo.toml",  "package.json"};
    static const char *const ends[] = {".mk", ".mak", ".sh",  ".bash", ".cmake",
                                       ".py", ".pl",  ".awk", ".ac",   ".am",
                                       ".in", ".bat", ".ld",  ".s",    ".inc"};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, ends[i]))
            return true;
    return name[0] == '.';
}

static json_t *risks_of(const git_diff_delta *delta) {
    json_t *risks = json_array();
    bool executable = delta->new_file.mode == GIT_FILEMODE_BLOB_EXECUTABLE &&
                      delta->old_file.mode != GIT_FILEMODE_BLOB_EXECUTABLE;
    if (is_build_file(delta->new_file.path) || is_build_file(delta->old_file.path))
        json_array_append_new(risks, json_string("build file"));
    if (executable)
        json_array_append_new(risks, json_string("new executable"));
    if (delta->flags & GIT_DIFF_FLAG_BINARY)
        json_array_append_new(risks, json_string("binary"));
    return risks;
}

// ---- files, hunks, lines

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

static void add_line(Document *d, const git_diff_line *line) {
    const char *kind = line->origin == GIT_DIFF_LINE_ADDITION   ? "add"
                       : line->origin == GIT_DIFF_LINE_DELETION ? "delete"
                       : line->origin == GIT_DIFF_LINE_CONTEXT  ? "context"
                                                                : "note";
    size_t size = line->content_len;
    while (size && (line->content[size - 1] == '\n' || line->content[size - 1] == '\r'))
        size--;
    json_t *text = *kind == 'n'
                       ? json_string("no newline at the end of the file")
                       : utf8_string(line->content, size < LINE_BYTES_MAX ? size : LINE_BYTES_MAX);
    json_array_append_new(
        json_object_get(d->hunk, "lines"),
        json_pack("{s:s, s:o, s:o, s:o}", "kind", kind, "old_no",
                  line->old_lineno > 0 ? json_integer(line->old_lineno) : json_null(), "new_no",
                  line->new_lineno > 0 ? json_integer(line->new_lineno) : json_null(), "text",
                  text));
}

// Counts every line and keeps those that there is room for.
static void take_line(Document *d, const git_diff_line *line) {
    d->file_additions += line->origin == GIT_DIFF_LINE_ADDITION;
    d->file_deletions += line->origin == GIT_DIFF_LINE_DELETION;
    if (++d->lines <= d->lines_max)
        add_line(d, line);
    else
        json_object_set_new(d->file, "truncated", json_true());
}

static void take_hunk(Document *d, git_patch *patch, size_t number) {
    const git_diff_hunk *hunk;
    size_t count;
    if (git_patch_get_hunk(&hunk, &count, patch, number) < 0)
        return;
    size_t size = strcspn(hunk->header, "\r\n");
    d->hunk = json_pack("{s:o, s:[]}", "header", utf8_string(hunk->header, size), "lines");
    if (d->lines < d->lines_max)
        json_array_append(json_object_get(d->file, "hunks"), d->hunk);
    for (size_t i = 0; i < count; i++) {
        const git_diff_line *line;
        if (git_patch_get_line_in_hunk(&line, patch, number, i) == 0)
            take_line(d, line);
    }
    json_decref(d->hunk);
}

static bool take_file(Document *d, git_diff *diff, size_t number, Error *err) {
    git_patch *patch = NULL;
    if (git_patch_from_diff(&patch, diff, number) < 0)
        return repo_error(err, 500, "git", "the diff cannot be made");
    const git_diff_delta *delta = git_diff_get_delta(diff, number); // flags are known now
    d->file = json_pack("{s:o, s:o, s:s, s:o, s:b, s:[], s:b}", "path",
                        utf8_string(delta->new_file.path, strlen(delta->new_file.path)), "old_path",
                        utf8_string(delta->old_file.path, strlen(delta->old_file.path)), "status",
                        status_of(delta), "risk", risks_of(delta), "binary",
                        (delta->flags & GIT_DIFF_FLAG_BINARY) != 0, "hunks", "truncated", 0);
    d->file_additions = d->file_deletions = 0;
    for (size_t i = 0; i < git_patch_num_hunks(patch); i++)
        take_hunk(d, patch, i);
    json_object_set_new(d->file, "additions", json_integer(d->file_additions));
    json_object_set_new(d->file, "deletions", json_integer(d->file_deletions));
    d->additions += d->file_additions;
    d->deletions += d->file_deletions;
    json_array_append_new(d->files, d->file);
    git_patch_free(patch);
    return true;
}

// ---- the whole

static bool delta_is_risky(git_diff *diff, size_t number) {
    git_patch *patch = NULL; // loads the file, which tells whether it is binary
    if (git_patch_from_diff(&patch, diff, number) < 0)
        return false;
    json_auto_t *risks = risks_of(git_diff_get_delta(diff, number));
    git_patch_free(patch);
    return json_array_size(risks) > 0;
}

static bool take_files(Document *d, git_diff *diff, int *risky, Error *err) {
    size_t count = git_diff_num_deltas(diff);
    bool ok = true;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; ok && i < count; i++) {
            if (delta_is_risky(diff, i) != (pass == 0))
                continue;
            *risky += pass == 0;
            ok = take_file(d, diff, i, err);
        }
    return ok;
}

static bool find_diff(git_repository *repo, const char *base, const char *commit, git_diff **diff,
                      Error *err) {
    const char *const shas[] = {base, commit};
    git_tree *trees[2] = {0};
    bool ok = true;
    for (int i = 0; ok && i < 2; i++) {
        git_oid oid;
        git_commit *object = NULL;
        ok = git_oid_fromstr(&oid, shas[i]) == 0 && git_commit_lookup(&object, repo, &oid) == 0 &&
             git_commit_tree(&trees[i], object) == 0;
        git_commit_free(object);
    }
    git_diff_options options;
    git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
    ok = ok && git_diff_tree_to_tree(diff, repo, trees[0], trees[1], &options) == 0 &&
         git_diff_find_similar(*diff, NULL) == 0;
    git_tree_free(trees[0]);
    git_tree_free(trees[1]);
    return ok || repo_error(err, 500, "git", "the diff cannot be made");
}

json_t *patch_document(git_repository *repo, const char *base, const char *commit, int lines_max,
                       Error *err) {
    git_diff *diff = NULL;
    Document d = {.files = json_array(), .lines_max = lines_max};
    int risky = 0;
    bool ok = find_diff(repo, base, commit, &diff, err) && take_files(&d, diff, &risky, err);
    git_diff_free(diff);
    if (!ok) {
        json_decref(d.files);
        return NULL;
    }
    return json_pack("{s:o, s:I, s:I, s:i, s:b}", "files", d.files, "additions",
                     (json_int_t)d.additions, "deletions", (json_int_t)d.deletions, "risky", risky,
                     "truncated", d.lines > lines_max);
}
