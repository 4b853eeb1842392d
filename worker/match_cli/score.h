// Results of games, counted for each two engines.
#pragma once

#include "sprt/sprt.h"
#include "worker/match/match_spec.h"

// What of a game counts.
typedef struct GameOutcome {
    int pair, index;
    int players[2], white;
    GameResult result;
    GameEndKind kind;
    int culprit;
    bool overloaded;
} GameOutcome;
GameOutcome game_outcome(const GameRecord *game);

// Of two engines against each other, as `first` sees it.
typedef struct MatchScore {
    int first, second; // numbers of the engines
    long wins, losses, draws;
    long white[3];                  // of them with White: losses, draws, wins
    double pairs[5];                // LL, LD, DD+WL, WD, WW
    double drawn_pairs;             // DD of the middle ones
    long time_losses[2], faults[2]; // by engine; faults: crashes, stalls, illegal moves
    long overloaded;                // of the time losses, for want of CPU
} MatchScore;

void match_score_add_game(MatchScore *score, const GameOutcome *game);
void match_score_add_pair(MatchScore *score, const GameOutcome games[2]);
// Adds what `engine`, one of the two of `from`, has scored; `to` is its own.
void match_score_merge(MatchScore *to, const MatchScore *from, int engine);
// What the games and pairs mean to the SPRT: pentanomial where there are pairs.
double match_score_llr(const MatchScore *score, const SprtBounds *bounds);
