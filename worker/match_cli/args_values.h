// The values of the command line of `match`, checked and complete.
#pragma once

#include "sprt/sprt.h"
#include "worker/match/openings.h"
#include "worker/match/pgn_out.h"
#include "worker/match/tournament.h"
#include "worker/os/process.h"

enum { MATCH_ENGINE_OPTIONS_MAX = 64, MATCH_ENGINE_ARGS_MAX = 64, MATCH_ENGINES_MAX = 256 };

typedef struct EngineArgs {
    const char *name, *command, *directory;
    const char *errors_file;               // receives its standard error; NULL: discarded
    const char *init;                      // more lines to send, each with a newline
    const char *control;                   // the limit as text
    char *argv[MATCH_ENGINE_ARGS_MAX + 2]; // argv[0] is set last, from `command`
    int argc;
    EngineOption options[MATCH_ENGINE_OPTIONS_MAX];
    int option_count, threads;
    bool restart, unnamed; // unnamed: its name is that of its program
    MatchLimit limit;
} EngineArgs;

typedef struct LogArgs {
    const char *file;
    bool engine, realtime, compress;
    int level; // a LogLevel: the lowest level of the runner's own messages that is logged
} LogArgs;

typedef struct MatchArgs {
    EngineArgs *engines;
    int engine_count, engine_max;
    TournamentKind tournament;
    int seeds; // gauntlet: so many engines, the first ones, play all others
    int rounds, games, slots;
    bool no_swap, reverse, no_affinity, many_slots, help, version;
    OsCpus cpus; // CPUs to play on; none: all that this process may use
    int wait_ms;
    BookSpec book;
    bool book_by_round; // no other policy than policy=round was given
    Adjudication adjudication;
    bool has_draw, has_resign, has_sprt;
    SprtBounds sprt;
    int rating_interval, score_interval, save_interval;
    int startup_ms, new_game_ms, ping_ms;
    const char *event, *site;
    bool cutechess; // -output format=cutechess
    bool pairs_reported;
    int play_on; // percent of the games that a rule of adjudication ends; 0: none
    bool show_latency, check_pvs, strict, fair, crc, debug;
    PgnFormat pgn;
    const char *pgn_file, *epd_file, *json_file, *state_file;
    bool pgn_append, epd_append, json_append;
    LogArgs log;
    char **owned; // strings that match_args_release frees
    int owned_count;
} MatchArgs;
