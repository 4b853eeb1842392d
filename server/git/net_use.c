// See net_use.h.
#include "server/git/net_use.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "server/common/path.h"
#include "server/common/str.h"

static const char MARK[] = "{sha256}";
enum { MARK_SIZE = sizeof MARK - 1, PATTERN_MAX = NET_PATH_MAX - 65 };

NetRule net_rule_of(const SqlEngineById *engine) {
    return (NetRule){engine->net_file, engine->net_path};
}

static bool is_inside(const char *path) {
    Error ignored;
    return *path && *path != '-' && path_check(path, &ignored);
}

bool net_rule_check(const NetRule *rule, Error *err) {
    if (!*rule->file)
        return true;
    if (!is_inside(rule->file) || strlen(rule->file) > PATTERN_MAX)
        return error_field(err, 422, "bad_field", "net_file",
                           "'%.100s' is not the path of a file inside a source tree", rule->file);
    const char *mark = strstr(rule->path, MARK);
    if (!is_inside(rule->path) || strlen(rule->path) > PATTERN_MAX || !mark ||
        strstr(mark + 1, MARK))
        return error_field(err, 422, "bad_field", "net_path",
                           "'%.100s' is not a path inside a source tree with %s in it once",
                           rule->path, MARK);
    return true;
}

char *net_place(const NetRule *rule, const char *sha, char out[NET_PATH_MAX]) {
    const char *mark = strstr(rule->path, MARK);
    int before = mark ? (int)(mark - rule->path) : (int)strlen(rule->path);
    snprintf(out, NET_PATH_MAX, "%.*s%s%s", before, rule->path, sha, mark ? mark + MARK_SIZE : "");
    return out;
}

// ---- the line -----------------------------------------------------------------------------------

// The message shows the first bytes of the line.
static bool bad_line(const char *text, size_t size, Error *err) {
    char shown[25] = "";
    for (size_t i = 0; i < size && i < sizeof shown - 1; i++)
        shown[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
    return error_field(
        err, 422, "bad_net", "patch",
        "holds '%s%s', which is not the name of a net: one line with the net's SHA-256 in "
        "64 lower-case hex digits, or none",
        shown, size >= sizeof shown ? "…" : "");
}

bool net_line_read(const char *text, size_t size, char sha[SHA256_HEX_MAX], Error *err) {
    *sha = 0;
    size_t end = size;
    while (end && strchr(" \t\n", text[end - 1]) && text[end - 1])
        end--;
    if (!end || (end == 4 && memcmp(text, "none", 4) == 0))
        return true;
    char name[SHA256_HEX_MAX] = "";
    if (end == SHA256_HEX_MAX - 1)
        memcpy(name, text, end);
    if (!sha256_is_hex(name))
        return bad_line(text, end, err);
    memcpy(sha, name, sizeof name);
    return true;
}

// ---- the tree -----------------------------------------------------------------------------------

static void free_blob(git_blob **blob) {
    git_blob_free(*blob);
}

typedef enum { ENTRY_NONE, ENTRY_FILE, ENTRY_OTHER } Entry;

// The kind of the entry at the path. *blob is set for a file; the caller frees it.
static Entry entry_at(git_repository *repo, const git_tree *tree, const char *path,
                      git_blob **blob) {
    git_tree_entry *entry = NULL;
    if (git_tree_entry_bypath(&entry, tree, path) < 0)
        return ENTRY_NONE;
    git_filemode_t mode = git_tree_entry_filemode(entry);
    bool is_file = (mode == GIT_FILEMODE_BLOB || mode == GIT_FILEMODE_BLOB_EXECUTABLE) &&
                   git_blob_lookup(blob, repo, git_tree_entry_id(entry)) == 0;
    git_tree_entry_free(entry);
    return is_file ? ENTRY_FILE : ENTRY_OTHER;
}

static bool read_line(git_repository *repo, const git_tree *tree, const NetRule *rule,
                      char sha[SHA256_HEX_MAX], Error *err) {
    git_blob *blob scope(free_blob) = NULL;
    if (entry_at(repo, tree, rule->file, &blob) != ENTRY_FILE)
        return true;
    size_t size = (size_t)git_blob_rawsize(blob);
    if (size > NET_LINE_MAX)
        return error_field(err, 422, "bad_net", "patch",
                           "%s has %zu bytes; it is one line, the SHA-256 of a net. The net itself "
                           "is uploaded, not put there",
                           rule->file, size);
    return net_line_read(git_blob_rawcontent(blob), size, sha, err) ||
           error_prefix(err, "%s", rule->file);
}

// If the tree has a file in the place of the net, the file must be that net.
static bool check_place(git_repository *repo, const git_tree *tree, NetUse *use, Error *err) {
    char found[SHA256_HEX_MAX];
    git_blob *blob scope(free_blob) = NULL;
    Entry entry = entry_at(repo, tree, use->path, &blob);
    if (entry == ENTRY_NONE)
        return true;
    if (entry == ENTRY_OTHER)
        return error_field(err, 422, "bad_net", "patch",
                           "%s is not a file, but it is the place of the net that the tree names",
                           use->path);
    sha256_hex(git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob), found);
    if (strcmp(found, use->sha) != 0)
        return error_field(err, 422, "bad_net", "patch",
                           "%s holds other bytes than its name says: their SHA-256 is %s",
                           use->path, found);
    *use->path = 0;
    return true;
}

bool net_of_commit(git_repository *repo, const char *commit, const NetRule *rule, NetUse *out,
                   Error *err) {
    git_tree *tree scope(repo_tree_free) = NULL;
    *out = (NetUse){0};
    if (!*rule->file)
        return true;
    if (!repo_commit_tree(repo, commit, &tree, err) || !read_line(repo, tree, rule, out->sha, err))
        return false;
    if (!*out->sha)
        return true;
    net_place(rule, out->sha, out->path);
    return check_place(repo, tree, out, err);
}

json_t *net_files(const NetUse *use) {
    return *use->path ? json_pack("[{s:s, s:s}]", "blob", use->sha, "path", use->path)
                      : json_array();
}
