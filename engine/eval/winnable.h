// How winnable the endgame is. The side that is better in the endgame keeps less of its advantage
// when the position is simpler (the idea of "initiative" in Stockfish). A part of the evaluation's
// template (terms.h).
#pragma once

#include "eval/terms.h"

// A value of EVAL of this kind, `n` times. It belongs to no colour; White's counts hold it.
EVAL_INLINE int winnable(EvalTrace *trace, const int32_t *value, int n) {
    if (EVAL_TRACING)
        note(trace, WHITE, value, n);
    return *value * n;
}

EVAL_INLINE bool pawns_on_both_flanks(Bitboard pawns) {
    const Bitboard a_to_d = UINT64_C(0x0f0f0f0f0f0f0f0f);
    return pawns & a_to_d && pawns & ~a_to_d;
}

// Larger if the kings are further apart by files than by ranks: then a king can pass the other one.
EVAL_INLINE int outflanking(const Position *pos) {
    Square white = position_king(pos, WHITE), black = position_king(pos, BLACK);
    int files = square_file(white) - square_file(black);
    return (files < 0 ? -files : files) + square_rank(white) - square_rank(black);
}

EVAL_INLINE int eval_winnable(const EvalFacts *facts) {
    const Position *pos = facts->pos;
    EvalTrace *trace = facts->trace;
    Bitboard pawns = pos->by_type[PAWN];
    int passed = bitboard_count(facts->pawns->passed[WHITE] | facts->pawns->passed[BLACK]);
    int outflanked = outflanking(pos);
    bool both_flanks = pawns_on_both_flanks(pawns);
    bool infiltrates =
        square_rank(position_king(pos, WHITE)) > 3 || square_rank(position_king(pos, BLACK)) < 4;
    bool pawns_only = !(facts->occupied & ~(pawns | pos->by_type[KING]));
    return winnable(trace, &EVAL.winnable_base, 1) +
           winnable(trace, &EVAL.winnable_pawn, bitboard_count(pawns)) +
           winnable(trace, &EVAL.winnable_passed, passed) +
           winnable(trace, &EVAL.winnable_outflanking, outflanked) +
           winnable(trace, &EVAL.winnable_both_flanks, both_flanks) +
           winnable(trace, &EVAL.winnable_infiltration, infiltrates) +
           winnable(trace, &EVAL.winnable_pawns_only, pawns_only) +
           winnable(trace, &EVAL.winnable_hardly, outflanked < 0 && !both_flanks);
}

// The endgame value after the correction. The correction never changes the sign.
EVAL_INLINE int winnable_endgame(int eg, int winnable_by) {
    if (eg > 0)
        return eg + winnable_by > 0 ? eg + winnable_by : 0;
    if (eg < 0)
        return eg - winnable_by < 0 ? eg - winnable_by : 0;
    return 0;
}
