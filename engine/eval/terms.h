// What the parts of the evaluation share: facts about a position that several terms need, and the
// functions through which a term reads its value. The search uses eval.h, not this file.
//
// The terms are inline functions in the headers of this folder. Two files expand them: eval.c for
// play, and trace.c with EVAL_TRACING set, where every use of a value is counted.
#pragma once

#include "base/score.h"
#include "eval/pawn_entry.h"
#include "eval/psqt.h"
#include "eval/trace_counts.h"
#include "eval/values.h"
#include "rules/bitboard.h"
#include "rules/position.h"

#ifndef EVAL_TRACING
#define EVAL_TRACING 0
#endif
#define EVAL_INLINE static inline __attribute__((always_inline))

// Middlegame share of all pieces at the start of a game.
enum { PHASE_FULL = 24 };

// Facts gathered once per evaluation.
typedef struct EvalFacts {
    const Position *pos;
    const PawnEntry *pawns;
    EvalTrace *trace; // not used in play
    Bitboard occupied;
    Bitboard attacks[COLOR_NB][PIECE_TYPE_NB]; // squares attacked by pieces of the type
    Bitboard all[COLOR_NB];                    // by any piece
    Bitboard twice[COLOR_NB];                  // by two or more
    Bitboard mobility_area[COLOR_NB];          // where a piece may go without obvious loss
    Bitboard king_zone[COLOR_NB];              // squares around the colour's own king
    int king_attackers[COLOR_NB][4];           // pieces of the colour that attack the enemy zone,
                                               // from the knight to the queen
    int king_hits[COLOR_NB];                   // squares of it that they attack, one by one
} EvalFacts;

EVAL_INLINE void note(EvalTrace *trace, Color us, const int32_t *value, int n) {
    size_t index = (size_t)((const char *)value - (const char *)&EVAL) / sizeof *value;
    trace->counts[us][index] = (int16_t)(trace->counts[us][index] + n);
}

// A value of EVAL, `n` times, in favour of `us`. Terms read values only through this function or
// the next one; the tuner does not see other uses.
EVAL_INLINE Pair term(EvalTrace *trace, Color us, const Pair *value, int n) {
    if (EVAL_TRACING)
        note(trace, us, value, n);
    return *value * n;
}

// The same for the danger that the king of `us` is in, in quarters of its unit.
EVAL_INLINE int danger(EvalTrace *trace, Color us, const int32_t *value, int quarters) {
    if (EVAL_TRACING)
        note(trace, us, value, quarters);
    return *value * quarters;
}

// The set moved by one rank towards the enemy of `us`.
EVAL_INLINE Bitboard forward(Color us, Bitboard set) {
    return us == WHITE ? set << 8 : set >> 8;
}

// Moves of a king from one square to the other.
EVAL_INLINE int distance(Square a, Square b) {
    int files = square_file(a) - square_file(b), ranks = square_rank(a) - square_rank(b);
    files = files < 0 ? -files : files;
    ranks = ranks < 0 ? -ranks : ranks;
    return files > ranks ? files : ranks;
}

// Material and square of a piece. Positive if `us` is White, negative if `us` is Black.
EVAL_INLINE Pair piece_on_square(EvalTrace *trace, Color us, PieceType t, Square s) {
    if (EVAL_TRACING) {
        Square own = square_relative(us, s);
        int file = square_file(s) < 4 ? square_file(s) : 7 - square_file(s);
        note(trace, us, &EVAL.material[t], 1);
        note(trace, us, &EVAL.squares[t][square_rank(own)][file], 1);
    }
    return PSQT[piece_make(us, t)][s];
}
