// The standing of a match and its summary in the words that scripts for fastchess, cutechess-cli
// and Fishtest look for. Engine 0 is the one whose wins are counted.
#pragma once

#include "../server/common/str.h"
#include "../sprt/sprt.h"
#include "match.h"

typedef struct MatchScore {
    long wins, losses, draws;
    double pairs[5];                // LL, LD, DD+WL, WD, WW
    long time_losses[2], faults[2]; // by engine; faults: crashes, stalls, illegal moves
} MatchScore;

void match_score_add_game(MatchScore *score, const GameRecord *game);
void match_score_add_pair(MatchScore *score, const GameRecord games[2]);
// What the games and pairs mean to the SPRT: pentanomial where there are pairs.
double match_score_llr(const MatchScore *score, const SprtBounds *bounds);

typedef struct MatchTitle {
    const char *names[2];
    const char *detail;       // in brackets behind the names: time control, threads, hash, book
    const SprtBounds *bounds; // NULL: no SPRT
} MatchTitle;

void match_report(Str *out, const MatchTitle *title, const MatchScore *score);
