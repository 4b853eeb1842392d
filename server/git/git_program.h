// Runs the git program for the tasks that libgit2 cannot do: serving clones (http-backend) and
// fetching over the network. The git configuration of the machine is not used.
#pragma once

#include "server/common/error.h"
#include "server/common/str.h"

typedef struct GitCall {
    const char *const *argv; // "git", …, NULL
    const char *const *env;  // "NAME=value", …, NULL; added to PATH and git's own settings
    const char *input;
    size_t input_size;
    double timeout_s;
} GitCall;

// Collects standard output and waits for the end. False if git does not start, if its output
// exceeds the maximum of `out`, if it takes too long (then all its processes are killed), or if its
// exit status is not 0. The message then has the end of its standard error. Any thread.
bool git_run(const GitCall *call, Str *out, Error *err);
