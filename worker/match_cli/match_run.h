// Inside build/match: a match on the command line from its options to its last report. Three files
// share it: setup.c makes it ready, or takes up where a state file says it stood;
// events.c prints, counts and writes what happens; match_main.c runs and ends it.
#pragma once

#include "worker/match/match.h"
#include "worker/match_cli/args.h"
#include "worker/match_cli/json.h"
#include "worker/match_cli/log.h"
#include "worker/match_cli/out_file.h"
#include "worker/match_cli/state.h"
#include "worker/match_cli/timing.h"

enum { FILE_PGN, FILE_EPD, FILE_JSON, FILE_COUNT };

typedef struct MatchRun {
    const MatchArgs *args;
    Openings openings;
    EngineSpec *engines;
    const char **controls;
    MatchPairing *pairings;
    int pairing_count, pair_count; // of a round, of the match
    MatchTitle title;
    char detail[512];
    MatchScore *scores; // of each pairing, in the order of pairs
    MatchScore *live;   // the same with all games that have ended
    long live_games;
    OutFile files[FILE_COUNT];
    bool write_failed; // to one of them
    GameOutcome last;  // of the games that on_rest counted; pair -1: none
    int dropped;       // games that ended and do not count
    MatchLog log;
    Timing timing;
    MatchState state; // settings and command, and what is saved of the rest
    int64_t saved_ns;
    int saved_games;
    Match *match;
    int pairs; // counted
    SprtVerdict verdict;
    bool stopped; // by -strict or a file that cannot be written; `error` says why
    Error error;
} MatchRun;

// `argv`, `argc`: the command line, which a state file keeps. Release in either case.
bool match_run_prepare(MatchRun *s, const MatchArgs *args, int argc, const char *const *argv,
                       Error *err);
void match_run_release(MatchRun *s);
MatchSpec match_run_spec(MatchRun *s);
// What -state compares: an object of texts; new.
json_t *match_run_settings(const MatchRun *s);

// Writes the state file: what was counted until now is safe when it returns.
bool match_run_save(MatchRun *s, Error *err);
// Prints the last report, and writes the state and the last line of the JSON file.
// `over`: it had ended before, and only the report is wanted.
void match_run_finish(MatchRun *s, bool over, const char *ending);
// Callbacks of the match. Games count, and go to files, in the order of pairs: the order in which
// games end favours quick results.
void match_run_on_start(void *ctx, const GameRecord *game);
void match_run_on_game(void *ctx, const GameRecord *game);
void match_run_on_pair(void *ctx, int pair, const GameRecord games[2]);
void match_run_on_rest(void *ctx, const GameRecord *game);
void match_run_on_warning(void *ctx, const GameRecord *game, const char *text);
void match_run_on_line(void *ctx, const MatchLine *line);
