// Which net a commit is built with. A file of the engine's tree (`net_file`, "net") names it by one
// line, its SHA-256, or says "none"; the build finds it at a path made of that name (`net_path`,
// "nets/{sha256}"). A net that lies there in the tree comes with it; any other must have been
// uploaded (net_upload.h) and is placed before the build. A tree without the file has no net.
#pragma once

#include <jansson.h>

#include "server/common/hash.h"
#include "server/git/repo.h"

#define NET_FILE_DEFAULT "net"
#define NET_PATH_DEFAULT "nets/{sha256}"
enum { NET_LINE_MAX = 200, NET_PATH_MAX = 201 }; // a path is at most 200 bytes for workers

// An engine's; `file` "": it has no nets. Borrowed.
typedef struct NetRule {
    const char *file, *path;
} NetRule;

typedef struct NetUse {
    char sha[SHA256_HEX_MAX]; // "": none
    char path[NET_PATH_MAX];  // where it is to be placed; "": it lies in the tree
} NetUse;

// From the engine's row, which keeps the texts.
NetRule net_rule_of(const json_t *engine);
// Whether file and path are of use: relative, inside the tree, the path with {sha256} once. 422.
bool net_rule_check(const NetRule *rule, Error *err);
// The path of the net of that name. Returns `out`.
char *net_place(const NetRule *rule, const char *sha, char out[NET_PATH_MAX]);

// The content of a net file: 64 lower-case hex digits and the end of the line, "none" or nothing;
// fills `sha`, "" for no net. False: 422 `bad_net` says what it holds instead. Pure.
bool net_line_read(const char *text, size_t size, char sha[SHA256_HEX_MAX], Error *err);

// What the tree of the commit says. False: 422 `bad_net` where the line is no name, or what lies at
// the net's place is another file. Any thread.
bool net_of_commit(git_repository *repo, const char *commit, const NetRule *rule, NetUse *out,
                   Error *err);
// [{"blob", "path"}] of what is to be placed, as tasks have it; new.
json_t *net_files(const NetUse *use);
