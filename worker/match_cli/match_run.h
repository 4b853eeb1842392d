// Inside build/match: a match on the command line, from its options to its last report. Three files
// share it: setup.c prepares the match, or resumes it from a state file; events.c prints, counts
// and writes games; match_main.c starts and ends the match.
#pragma once

#include "worker/match/match.h"
#include "worker/match_cli/args.h"
#include "worker/match_cli/json.h"
#include "worker/match_cli/log.h"
#include "worker/match_cli/out_file.h"
#include "worker/match_cli/rule_audit.h"
#include "worker/match_cli/state.h"
#include "worker/match_cli/timing.h"

enum { FILE_PGN, FILE_EPD, FILE_JSON, FILE_COUNT };

typedef struct MatchRun {
    const MatchArgs *args;
    Openings openings;
    EngineSpec *engines;
    const char **controls;
    MatchPairing *pairings;
    int pairing_count, pair_count; // pairings of a round, pairs of the match
    MatchTitle title;
    char detail[512];
    MatchScore *scores; // of each pairing: the games that count, in the order of pairs
    MatchScore *live;   // of each pairing: all games that have ended
    long live_games;
    OutFile files[FILE_COUNT];
    bool write_failed; // of one of the files
    GameOutcome last;  // the last game that on_rest counted; pair -1: none
    int dropped;       // games that ended and do not count
    MatchLog log;
    Timing timing;
    RuleAudit audit;
    MatchState state; // settings and command; match_run_save fills in the rest
    int64_t saved_ns;
    int saved_games;
    Match *match;
    int pairs; // that are counted
    SprtVerdict verdict;
    bool stopped; // by -strict or a file that cannot be written; `error` says why
    Error error;
} MatchRun;

// `argv` and `argc` are the command line, which the state file keeps. Release `s` in either case.
bool match_run_prepare(MatchRun *s, const MatchArgs *args, int argc, const char *const *argv,
                       Error *err);
void match_run_release(MatchRun *s);
MatchSpec match_run_spec(MatchRun *s);
// The settings that -state compares, as an object of strings. New.
json_t *match_run_settings(const MatchRun *s);

// Writes the state file. When it returns, all games counted so far are on disk.
bool match_run_save(MatchRun *s, Error *err);
// Prints the last report, and writes the state and the last line of the JSON file. `over`: the
// match had ended before this start of the program; nothing but the report is printed.
void match_run_finish(MatchRun *s, bool over, const char *ending);
// Callbacks of the match. Games are counted and written to files in the order of pairs, because the
// order in which games end favours quick results.
void match_run_on_start(void *ctx, const GameRecord *game);
void match_run_on_game(void *ctx, const GameRecord *game);
void match_run_on_pair(void *ctx, int pair, const GameRecord games[2]);
void match_run_on_rest(void *ctx, const GameRecord *game);
bool match_run_plays_on(void *ctx, const GameRecord *game);
void match_run_on_played_on(void *ctx, const PlayedOn *played);
void match_run_on_warning(void *ctx, const GameRecord *game, const char *text);
void match_run_on_line(void *ctx, const MatchLine *line);
