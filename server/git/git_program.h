// Runs the git program where libgit2 has no counterpart: serving clones (http-backend) and fetching
// over the network. The machine's git configuration has no say.
#pragma once

#include "server/common/error.h"
#include "server/common/str.h"

typedef struct GitCall {
    const char *const *argv; // "git", …, NULL
    const char *const *env;  // "NAME=value", …, NULL; beside PATH and git's own settings
    const char *input;
    size_t input_size;
    double timeout_s;
} GitCall;

// Waits for the end and collects standard output. False: cannot start, over the output's maximum,
// over time (all its processes are killed), or an exit status other than 0; the message holds the
// end of what it said on standard error. Any thread.
bool git_run(const GitCall *call, Str *out, Error *err);
