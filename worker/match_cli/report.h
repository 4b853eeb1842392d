// The standing of a match and its summary in the words that scripts for fastchess, cutechess-cli
// and Fishtest look for.
#pragma once

#include "server/common/str.h"
#include "worker/match_cli/score.h"

typedef struct MatchTitle {
    const EngineSpec *engines; // for their names
    int engine_count;
    const char *detail;       // in brackets behind the names: time control, threads, hash, book
    const SprtBounds *bounds; // NULL: no SPRT
    bool cutechess;           // in cutechess's words
    bool games_only;          // no pentanomial counts, Elo by games
} MatchTitle;

// The scores of all pairings: of one, the two engines' result, of more a table of ranks.
void match_report(Str *out, const MatchTitle *title, const MatchScore *scores, int count);
// cutechess's "Score of" lines.
void match_report_score(Str *out, const MatchTitle *title, const MatchScore *score);
