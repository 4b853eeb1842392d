// The words behind -engine and -each.
#pragma once

#include "worker/match_cli/args_table.h"

// One word behind -engine or -each.
bool match_args_engine_word(MatchArgs *args, EngineArgs *engine, const char *option,
                            const char *word, Error *err);
// Checks the engine after all words are read, and fills in its name, argv[0] and the text of its
// limit. `number` is for the error message.
bool match_args_engine_complete(MatchArgs *args, EngineArgs *engine, int number, Error *err);
// Reads "[moves/][min:]sec[+inc]" or "inf", the form of fastchess, into the clock of `limit`.
// The time controls of tests have another form (server/common/time_control.h).
bool match_limit_parse_tc(const char *text, MatchLimit *limit);
