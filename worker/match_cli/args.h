// The command line of build/match, in the syntax that cutechess-cli and fastchess share.
#pragma once

#include "worker/match_cli/args_values.h"

// `argv` does not hold the program's name. It is borrowed for as long as `args` is used. On false,
// `err` names the option, the key and the value. Release `args` in either case.
bool match_args_parse(MatchArgs *args, int argc, const char *const *argv, Error *err);
void match_args_release(MatchArgs *args);
// The path of the state file if the command line has nothing but a state file; NULL otherwise. The
// state file then holds the rest of the command line.
const char *match_args_only_state(int argc, const char *const *argv);
extern const char match_help[];
