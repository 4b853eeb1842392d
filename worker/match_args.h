// The command line of build/match, in the syntax that cutechess-cli and fastchess share.
#pragma once

#include "../sprt/sprt.h"
#include "match_openings.h"

enum { MATCH_ENGINE_OPTIONS_MAX = 64, MATCH_ENGINE_ARGS_MAX = 64 };

typedef struct EngineArgs {
    const char *name, *command, *directory;
    const char *control;                   // the limit as text
    char *argv[MATCH_ENGINE_ARGS_MAX + 2]; // argv[0] is set last, from `command`
    int argc;
    EngineOption options[MATCH_ENGINE_OPTIONS_MAX];
    int option_count, threads;
    bool restart;
    MatchLimit limit;
} EngineArgs;

typedef struct MatchArgs {
    EngineArgs engines[2];
    int engine_count;
    int rounds, games, slots;
    bool no_swap, no_affinity, help;
    BookSpec book;
    Adjudication adjudication;
    bool has_sprt;
    SprtBounds sprt;
    int rating_interval;
    int startup_ms, ping_ms;
    const char *pgn_file, *event, *site;
    char **owned; // strings made here
    int owned_count;
} MatchArgs;

// `argv` without the program's name; it is borrowed for as long as `args` is used. False: `err`
// names option, key and value. Release in either case.
bool match_args_parse(MatchArgs *args, int argc, const char *const *argv, Error *err);
void match_args_release(MatchArgs *args);
// "[moves/][min:]sec[+inc]" or "inf" into the clock of `limit`.
bool match_limit_parse_tc(const char *text, MatchLimit *limit);
extern const char match_help[];
