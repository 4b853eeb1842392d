// Inside match_args: what its two halves share. For nobody else.
#pragma once

#include "match_args.h"

// Takes over a malloc'ed string for as long as `args` lives.
char *match_args_own(MatchArgs *args, char *text);
// "<option> <value>: <why>"; returns false.
bool match_args_refuse(Error *err, const char *option, const char *value, const char *why);
bool match_args_int(const char *text, long low, long high, int *out);
// One key=value behind -engine or -each.
bool match_args_engine_word(MatchArgs *args, EngineArgs *engine, const char *option,
                            const char *word, Error *err);
// Checks what was given and fills in name, argv[0] and the limit's text. `number` is for the
// message.
bool match_args_engine_complete(MatchArgs *args, EngineArgs *engine, int number, Error *err);
