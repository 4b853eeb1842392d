// Ends a game before the rules of chess end it: a draw by scores, a resignation by scores, or a
// maximum length. The conditions are those of fastchess. They use the score that each engine
// reports for its own moves. A mate score never counts for a draw. A move without a score resets
// all counts to 0.
#pragma once

#include "worker/match/match_spec.h"

typedef struct Adjudicator {
    const Adjudication *rules; // borrowed
    int draw_plies;            // in a row with |score| at most draw_score, since the last capture
                               // or pawn move
    int lost_moves[COLOR_NB];  // in a row with a score at or below -resign_score
    int decided_plies;         // in a row, both sides, with |score| at least resign_score
} Adjudicator;

typedef enum { DECISION_NONE, DECISION_RESIGNS, DECISION_DRAW, DECISION_TOO_LONG } Decision;

// Counts the move of `mover` that led to `pos`; `plies` were played since the opening. RESIGNS: the
// mover resigns. Call it only if the rules have not ended the game.
Decision adjudicate(Adjudicator *a, const Position *pos, Color mover, int32_t score, int plies);
