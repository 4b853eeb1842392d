// The command line of build/match, in the syntax that cutechess-cli and fastchess share.
#pragma once

#include "worker/match_cli/args_values.h"

// `argv` without the program's name; it is borrowed for as long as `args` is used. False: `err`
// names option, key and value. Release in either case.
bool match_args_parse(MatchArgs *args, int argc, const char *const *argv, Error *err);
void match_args_release(MatchArgs *args);
// Whether the words do nothing but name a state file: then it holds the rest of the command line.
// NULL: no.
const char *match_args_only_state(int argc, const char *const *argv);
extern const char match_help[];
