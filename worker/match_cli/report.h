// The reports of a match, in the forms that scripts for fastchess, cutechess-cli and Fishtest
// expect.
#pragma once

#include "server/common/str.h"
#include "worker/match_cli/score.h"

typedef struct MatchTitle {
    const EngineSpec *engines; // for their names
    int engine_count;
    const char *detail;       // in brackets after the names: time control, threads, hash, book
    const SprtBounds *bounds; // NULL: no SPRT
    bool cutechess;           // in the form of cutechess-cli
    bool games_only;          // no pentanomial counts, Elo by games
} MatchTitle;

// With one pairing, the result of its two engines; with more, a table of ranks.
void match_report(Str *out, const MatchTitle *title, const MatchScore *scores, int count);
// The "Score of" lines of cutechess-cli.
void match_report_score(Str *out, const MatchTitle *title, const MatchScore *score);
