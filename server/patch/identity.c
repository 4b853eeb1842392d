// See identity.h. libgit2 makes the diffs, because it also reads objects that are only in memory.
// It can compute patch-ids, too, but differently from git: without newlines at the ends of files
// and without binary contents. So the diffs go to git's own program, both in one run. A line
// "commit NAME" before each gives its id a name.
#include "server/patch/identity.h"

#include <stdio.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/common/str.h"
#include "server/git/git_program.h"

#define FORWARD "1111111111111111111111111111111111111111"
#define REVERSE "2222222222222222222222222222222222222222"

static bool cannot(PatchIdentity *out, const char *why) {
    snprintf(out->missing, sizeof out->missing, "%.*s", IDENTITY_MISSING_MAX - 1, why);
    return false;
}

// ---- the diffs ----------------------------------------------------------------------------------

// Unlike git, libgit2 names the contents of an added or removed file that is empty.
static size_t header_size(const git_diff_delta *delta, const git_diff_line *line) {
    static const char empty[] = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
    const git_diff_file *file =
        delta->status == GIT_DELTA_DELETED ? &delta->old_file : &delta->new_file;
    const char *names = git_oid_streq(&file->id, empty) == 0 && delta->status != GIT_DELTA_MODIFIED
                            ? memmem(line->content, line->content_len, "\n--- ", 5)
                            : NULL;
    return names ? (size_t)(names + 1 - line->content) : line->content_len;
}

typedef struct Diff {
    Str *text;
    bool binary;
} Diff;

static int add_line(const git_diff_delta *delta, const git_diff_hunk *hunk,
                    const git_diff_line *line, void *context) {
    Diff *diff = context;
    bool is_header = line->origin == GIT_DIFF_LINE_FILE_HDR;
    (void)hunk;
    if (line->origin == GIT_DIFF_LINE_CONTEXT || line->origin == GIT_DIFF_LINE_ADDITION ||
        line->origin == GIT_DIFF_LINE_DELETION)
        str_putc(diff->text, line->origin);
    str_add(diff->text, line->content, is_header ? header_size(delta, line) : line->content_len);
    diff->binary =
        line->origin == GIT_DIFF_LINE_BINARY || memchr(line->content, 0, line->content_len) != NULL;
    return diff->binary || diff->text->overflow ? GIT_EUSER : 0;
}

static bool add_diff(git_repository *repo, const char *name, git_tree *from, git_tree *to,
                     Str *text, PatchIdentity *out) {
    Diff part = {.text = text};
    git_diff *diff = NULL;
    git_diff_options options;
    git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
    options.flags = GIT_DIFF_INDENT_HEURISTIC;
    options.max_size = IDENTITY_FILE_MAX; // larger files are binary
    str_printf(text, "commit %s\n", name);
    int rc = git_diff_tree_to_tree(&diff, repo, from, to, &options);
    rc = rc < 0 ? rc : git_diff_print(diff, GIT_DIFF_FORMAT_PATCH, add_line, &part);
    git_diff_free(diff);
    if (part.binary)
        return cannot(out, "it changes a binary file, or one of over 4 MiB");
    if (text->overflow)
        return cannot(out, "its diff has over 4 MiB");
    return rc == 0 || cannot(out, "its diff cannot be made");
}

// ---- git patch-id -------------------------------------------------------------------------------

// Reads "ID NAME\n".
static bool read_id(const char **p, const char *name, char id[REPO_SHA_MAX]) {
    enum { HEX = REPO_SHA_MAX - 1 };
    if (strspn(*p, "0123456789abcdef") != HEX || (*p)[HEX] != ' ' ||
        strncmp(*p + HEX + 1, name, HEX) != 0 || (*p)[2 * HEX + 1] != '\n')
        return false;
    snprintf(id, REPO_SHA_MAX, "%s", *p);
    *p += 2 * HEX + 2;
    return true;
}

static bool run(const char *how, const Str *text, char id[REPO_SHA_MAX], char reverse[REPO_SHA_MAX],
                PatchIdentity *out) {
    Error err;
    Str ids scope(str_release);
    str_init(&ids, 1000);
    const char *const argv[] = {"git", "patch-id", how, NULL};
    const GitCall call = {.argv = argv,
                          .input = text->data,
                          .input_size = text->size,
                          .timeout_s = IDENTITY_SECONDS_MAX};
    if (!git_run(&call, &ids, &err))
        return cannot(out, err.message);
    const char *p = ids.data ? ids.data : "";
    return (read_id(&p, FORWARD, id) && read_id(&p, REVERSE, reverse) && !*p) ||
           cannot(out, "git patch-id did not print two patch-ids");
}

static void find_ids(git_repository *repo, git_tree *from, git_tree *to, PatchIdentity *out) {
    Str text scope(str_release);
    str_init(&text, 2 * IDENTITY_DIFF_MAX);
    PatchIdentity found = *out;
    if (add_diff(repo, FORWARD, from, to, &text, out) &&
        add_diff(repo, REVERSE, to, from, &text, out) &&
        run("--stable", &text, found.id, found.reverse, out) &&
        run("--verbatim", &text, found.verbatim, found.verbatim_reverse, out))
        *out = found;
}

bool patch_identify(git_repository *repo, const char *base, const char *commit, PatchIdentity *out,
                    Error *err) {
    git_tree *from scope(repo_tree_free) = NULL, *to scope(repo_tree_free) = NULL;
    *out = (PatchIdentity){0};
    if (!repo_commit_tree(repo, base, &from, err) || !repo_commit_tree(repo, commit, &to, err))
        return false;
    git_oid_tostr(out->base_tree, sizeof out->base_tree, git_tree_id(from));
    git_oid_tostr(out->tree, sizeof out->tree, git_tree_id(to));
    if (!git_oid_equal(git_tree_id(from), git_tree_id(to)))
        find_ids(repo, from, to, out);
    return true;
}
