// The net that a commit is built with. A file of the engine's tree (`net_file`, "net") names it in
// one line by its SHA-256, or says "none". The build finds the net at a path that contains this
// name (`net_path`, "nets/{sha256}"). If the tree has the net at that path, nothing else is needed.
// Any other net must have been uploaded (net_upload.h) and is placed before the build. A tree
// without the file has no net.
#pragma once

#include <jansson.h>

#include "server/common/hash.h"
#include "server/git/repo.h"
#include "sql/git.h"

#define NET_FILE_DEFAULT "net"
#define NET_PATH_DEFAULT "nets/{sha256}"
enum { NET_LINE_MAX = 200, NET_PATH_MAX = 201 }; // a path is at most 200 bytes for workers

// The rule of an engine. `file` "": the engine has no nets. Borrowed.
typedef struct NetRule {
    const char *file, *path;
} NetRule;

typedef struct NetUse {
    char sha[SHA256_HEX_MAX]; // "": none
    char path[NET_PATH_MAX];  // the place for it; "": it is in the tree
} NetUse;

// The rule in the engine's row, which owns the texts.
NetRule net_rule_of(const SqlEngineById *engine);
// Whether file and path are valid: relative, inside the tree, and {sha256} once in the path. 422.
bool net_rule_check(const NetRule *rule, Error *err);
// The path of the net of that name. Returns `out`.
char *net_place(const NetRule *rule, const char *sha, char out[NET_PATH_MAX]);

// Reads the content of a net file: 64 lower-case hex digits and the end of the line, "none", or
// nothing. Fills `sha`, "" for no net. False: 422 `bad_net` says what the file holds instead. Pure.
bool net_line_read(const char *text, size_t size, char sha[SHA256_HEX_MAX], Error *err);

// Reads the net from the tree of the commit. False: 422 `bad_net` if the line is not a name, or if
// another file is in the place of the net. Any thread.
bool net_of_commit(git_repository *repo, const char *commit, const NetRule *rule, NetUse *out,
                   Error *err);
// The files to be placed, as a task has them: [{"blob", "path"}]. New.
json_t *net_files(const NetUse *use);
