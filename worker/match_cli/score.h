// The results of games, counted for each pairing.
#pragma once

#include "sprt/sprt.h"
#include "worker/match/match_spec.h"

// The part of a GameRecord that a score needs.
typedef struct GameOutcome {
    int pair, index;
    int players[2], white;
    GameResult result;
    GameEndKind kind;
    int culprit;
    bool overloaded;
} GameOutcome;
GameOutcome game_outcome(const GameRecord *game);

// The score of two engines against each other, from the point of view of `first`.
typedef struct MatchScore {
    int first, second; // numbers of the engines
    long wins, losses, draws;
    long white[3];                  // games of `first` with White: losses, draws, wins
    double pairs[5];                // LL, LD, DD+WL, WD, WW
    double drawn_pairs;             // how many of pairs[2] are DD
    long time_losses[2], faults[2]; // by engine; faults: crashes, stalls, illegal moves
    long overloaded;                // time losses because the machine was busy
} MatchScore;

void match_score_add_game(MatchScore *score, const GameOutcome *game);
void match_score_add_pair(MatchScore *score, const GameOutcome games[2]);
// Adds the results of `engine`, which is one of the two engines of `from`, to its own score `to`.
void match_score_merge(MatchScore *to, const MatchScore *from, int engine);
// The log-likelihood ratio: from pairs if there are any, else from games.
double match_score_llr(const MatchScore *score, const SprtBounds *bounds);
