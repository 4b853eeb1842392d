// What the command line of `match` says, checked and complete.
#pragma once

#include "sprt/sprt.h"
#include "worker/match/openings.h"
#include "worker/match/pgn_out.h"
#include "worker/match/tournament.h"
#include "worker/os/process.h"

enum { MATCH_ENGINE_OPTIONS_MAX = 64, MATCH_ENGINE_ARGS_MAX = 64, MATCH_ENGINES_MAX = 256 };

typedef struct EngineArgs {
    const char *name, *command, *directory;
    const char *errors_file;               // what it says on standard error goes there; NULL: away
    const char *init;                      // more lines for it, each with a newline
    const char *control;                   // the limit as text
    char *argv[MATCH_ENGINE_ARGS_MAX + 2]; // argv[0] is set last, from `command`
    int argc;
    EngineOption options[MATCH_ENGINE_OPTIONS_MAX];
    int option_count, threads;
    bool restart, unnamed; // unnamed: called after its program
    MatchLimit limit;
} EngineArgs;

typedef struct LogArgs {
    const char *file;
    bool engine, realtime, compress;
    int level; // a LogLevel: what the runner itself says is logged from here up
} LogArgs;

typedef struct MatchArgs {
    EngineArgs *engines;
    int engine_count, engine_max;
    TournamentKind tournament;
    int seeds; // first engines that play the others in a gauntlet
    int rounds, games, slots;
    bool no_swap, reverse, no_affinity, many_slots, help, version;
    OsCpus cpus; // to play on; none: all that this process may use
    int wait_ms;
    BookSpec book;
    bool book_by_round; // policy=round was not asked for in other words
    Adjudication adjudication;
    bool has_draw, has_resign, has_sprt;
    SprtBounds sprt;
    int rating_interval, score_interval, save_interval;
    int startup_ms, new_game_ms, ping_ms;
    const char *event, *site;
    bool cutechess; // -output format=
    bool pairs_reported;
    bool show_latency, check_pvs, strict, crc, debug;
    PgnFormat pgn;
    const char *pgn_file, *epd_file, *json_file, *state_file;
    bool pgn_append, epd_append, json_append;
    LogArgs log;
    char **owned; // strings made here
    int owned_count;
} MatchArgs;
