// When a game is ended before its rules end it: agreed draws, resignation, a longest length. The
// rules are those of fastchess: scores as each engine gives them for its own moves, mate scores
// never count for a draw, a move without a score sets every count back to nothing.
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

// Takes note of `mover`'s move that led to `pos`; `plies` were played since the opening. RESIGNS:
// the mover does. To be asked only where the game goes on by the rules.
Decision adjudicate(Adjudicator *a, const Position *pos, Color mover, int32_t score, int plies);
