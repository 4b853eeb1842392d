// See same_lines.h. Each change becomes one text: of each file its path, what became of it, and its
// removed and added lines without their neighbours. The texts are compared.
#include "server/patch/same_lines.h"

#include <stdio.h>
#include <string.h>

#include "server/common/str.h"
#include "server/git/repo.h"
#include "server/git/tree.h"
#include "server/patch/risky_path.h"

enum { TEXT_MAX = 16 << 20 };

typedef struct Lines {
    Str text;
    const char *net_file;
    char *why; // of SAME_WHY_MAX
} Lines;

static bool refuse(Lines *lines, const char *format, const char *path) {
    snprintf(lines->why, SAME_WHY_MAX, format, path);
    return false;
}

static bool is_plain(Lines *lines, const git_diff_delta *delta) {
    const git_diff_file *old = &delta->old_file, *new = &delta->new_file;
    bool added = delta->status == GIT_DELTA_ADDED, deleted = delta->status == GIT_DELTA_DELETED;
    const char *path = new->path;
    if (path_decides_build(path))
        return refuse(lines, "%.200s decides how the engine is built", path);
    if (path_is_hidden(path))
        return refuse(lines, "%.200s lies in a hidden folder", path);
    if (*lines->net_file && strcmp(path, lines->net_file) == 0)
        return refuse(lines, "%.200s names the net", path);
    if ((!added && !deleted && delta->status != GIT_DELTA_MODIFIED) ||
        (!added && old->mode != GIT_FILEMODE_BLOB) || (!deleted && new->mode != GIT_FILEMODE_BLOB))
        return refuse(lines, "the mode of %.200s changes or is not that of a plain file", path);
    return true;
}

static int add_file(const git_diff_delta *delta, float progress, void *context) {
    Lines *lines = context;
    (void)progress;
    if (!is_plain(lines, delta))
        return GIT_EUSER;
    str_printf(&lines->text, "%s\n%d\n", delta->new_file.path, (int)delta->status);
    return 0;
}

static int add_binary(const git_diff_delta *delta, const git_diff_binary *binary, void *context) {
    (void)binary;
    refuse(context, "%.200s is binary", delta->new_file.path);
    return GIT_EUSER;
}

static int add_line(const git_diff_delta *delta, const git_diff_hunk *hunk,
                    const git_diff_line *line, void *context) {
    Lines *lines = context;
    (void)delta, (void)hunk;
    if (line->origin == GIT_DIFF_LINE_CONTEXT)
        return 0;
    str_printf(&lines->text, "%c%zu ", line->origin, line->content_len);
    str_add(&lines->text, line->content, line->content_len);
    return 0;
}

static bool read_change(git_repository *repo, CommitRange change, Lines *lines) {
    Error err;
    git_tree *from scope(repo_tree_free) = NULL, *to scope(repo_tree_free) = NULL;
    git_diff *diff = NULL;
    git_diff_options options;
    git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
    options.context_lines = 0;
    str_init(&lines->text, TEXT_MAX);
    *lines->why = 0;
    if (!repo_commit_tree(repo, change.base, &from, &err) ||
        !repo_commit_tree(repo, change.commit, &to, &err))
        return refuse(lines, "%.300s", err.message);
    int rc = git_diff_tree_to_tree(&diff, repo, from, to, &options);
    rc = rc < 0 ? rc : git_diff_foreach(diff, add_file, add_binary, NULL, add_line, lines);
    git_diff_free(diff);
    if (*lines->why)
        return false;
    return (rc == 0 && !lines->text.overflow) || refuse(lines, "its diff is too large%s", "");
}

bool patch_same_lines(git_repository *repo, CommitRange seen, CommitRange again,
                      const char *net_file, char why[SAME_WHY_MAX]) {
    Lines one = {.net_file = net_file, .why = why}, other = one;
    bool same = read_change(repo, seen, &one) && read_change(repo, again, &other) &&
                ((one.text.size == other.text.size &&
                  memcmp(one.text.data, other.text.data, one.text.size) == 0) ||
                 refuse(&one, "its removed and added lines are others now%s", ""));
    str_release(&one.text);
    str_release(&other.text);
    return same;
}
