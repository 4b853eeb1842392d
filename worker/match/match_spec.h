// The description of a match: its engines, pairings, openings and rules, and the callbacks that
// receive its games.
#pragma once

#include "server/common/adjudicate.h"
#include "worker/match/played_on.h"

typedef struct Opening {
    const char *fen;   // NULL: start position
    const char *moves; // UCI moves from there, separated by blanks; NULL or "" for none
} Opening;

typedef struct MatchPairing {
    int first, second; // engines; `first` has White in the first game
} MatchPairing;

// Pair p is pairing p % pairing_count of round p / pairing_count, and plays the opening of that
// round.
typedef struct MatchSpec {
    const EngineSpec *engines; // 0: new (or first), 1: base
    int engine_count;
    const MatchPairing *pairings; // of one round; NULL: engines 0 and 1
    int pairing_count;            // 0 with NULL
    int pair_first;               // number of the first pair, for resuming
    int pair_count;
    int pairs_together; // match_finish() ends after so many pairs from the first; 0: after each
    int games_per_pair; // 2, or 1: colours then change from round to round
    bool no_swap;       // a pairing's first engine always has White
    // The opening of a pair; called from slot threads, strings must outlive the match.
    Opening (*opening)(void *ctx, int pair);
    int slots;
    bool pin; // bind the referee and the engines of a slot to own CPUs, if enough are free
    bool chess960;
    Adjudication adjudication;
    int startup_ms, ping_ms; // waits outside the clock
    int new_game_ms;         // the wait for readyok after ucinewgame; 0: ping_ms
    int rest_ms;             // pause of a slot between two games
    bool keep_info;          // fill GameRecord.infos
    bool check_pvs;          // report impossible PVs to on_warning
    bool no_pondering;       // who computes in its opponent's time loses, where both have clocks
    // The callbacks. Any may be NULL. They are called under one lock, never concurrently. Records
    // are borrowed for the call. With one game per pair, games[1] is undefined.
    void (*on_start)(void *ctx, const GameRecord *game);             // pair, index, players, white
    void (*on_game)(void *ctx, const GameRecord *game);              // in order of completion
    void (*on_pair)(void *ctx, int pair, const GameRecord games[2]); // in pair order, both ended
    // Whether a game that a rule of adjudication is about to end is played on after it was reported
    // (played_on.h). Called by slot threads at the same time. NULL: none is. A game whose engines
    // are started anew for each game is never played on.
    bool (*plays_on)(void *ctx, const GameRecord *game);
    // Such a game has its second end. Not called if the match was stopped meanwhile.
    void (*on_played_on)(void *ctx, const PlayedOn *played);
    // At the end of match_run: a game that has ended, if its pair or an earlier pair has not. In
    // the order of pairs.
    void (*on_rest)(void *ctx, const GameRecord *game);
    void (*on_warning)(void *ctx, const GameRecord *game, const char *text);
    // An engine has never worked in this match (`culprit`; the fault report shows its output).
    // After this call match_run returns false.
    void (*on_failure)(void *ctx, const GameRecord *game);
    // Every line to and from every engine; called by slot threads at the same time. NULL: no log.
    void (*on_line)(void *ctx, const MatchLine *line);
    void *ctx;
} MatchSpec;

// Why no such match can be played; NULL: it can.
const char *match_spec_problem(const MatchSpec *spec);
