// What the parts of the evaluation share: pairs of middlegame and endgame values, and the facts
// about a position that several terms need. Not for the search, which uses eval.h.
#pragma once

#include "pawns.h"
#include "rules/bitboard.h"
#include "rules/position.h"
#include "score.h"

// A middlegame value in the low half and an endgame value in the high half of one int, so that one
// addition adds both ("tapered evaluation" on packed scores; chessprogramming wiki).
typedef int32_t Pair;
#define PAIR(mg, eg) ((Pair)((uint32_t)(eg) << 16) + (mg))
static inline int pair_mg(Pair p) {
    return (int16_t)(uint16_t)(uint32_t)p;
}
static inline int pair_eg(Pair p) {
    return (int16_t)(uint16_t)(((uint32_t)p + 0x8000u) >> 16);
}

// Facts gathered once per evaluation.
typedef struct EvalFacts {
    const Position *pos;
    const PawnEntry *pawns;
    Bitboard occupied;
    Bitboard attacks[COLOR_NB][PIECE_TYPE_NB]; // squares attacked by pieces of the type
    Bitboard all[COLOR_NB];                    // by any piece
    Bitboard twice[COLOR_NB];                  // by two or more
    Bitboard mobility_area[COLOR_NB];          // where a piece may go without obvious loss
    Bitboard king_zone[COLOR_NB];              // squares about the colour's own king
    int king_attackers[COLOR_NB];              // pieces of the colour that look at the enemy zone
    int king_pressure[COLOR_NB];               // their weights together
} EvalFacts;

// Material and piece-square values by piece and square; Black's are negative.
extern Pair PSQT[PIECE_NB][SQUARE_NB];
void psqt_init(void);

// Each term is the colour's own worth, to be set against the other's.
Pair eval_king(const EvalFacts *facts, Color us);
Pair eval_passed(const EvalFacts *facts, Color us);
Pair eval_threats(const EvalFacts *facts, Color us);
// How much of an endgame advantage the material lets one hope to win, in 64ths.
int eval_scale(const Position *pos, int eg);
