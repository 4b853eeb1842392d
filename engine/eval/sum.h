// The evaluation as a whole: it collects the facts, adds up all terms for both phases, and mixes
// the two sums. The outermost part of the evaluation's template (terms.h).
#pragma once

#include "eval/endgame.h"
#include "eval/king.h"
#include "eval/passed.h"
#include "eval/pawn_terms.h"
#include "eval/pieces.h"
#include "eval/space.h"
#include "eval/terms.h"
#include "eval/threats.h"
#include "eval/winnable.h"

EVAL_INLINE void facts_init_side(EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    Color them = color_flip(us);
    Square king = position_king(pos, us);
    Bitboard pawns = position_pieces(pos, us, PAWN);
    Bitboard their_pawn_attacks = pawns_attacks(them, position_pieces(pos, them, PAWN));
    Bitboard blocked = pawns & forward(them, facts->occupied);
    facts->mobility_area[us] = ~(their_pawn_attacks | blocked | square_bb(king));
    // The zone is wider towards the enemy.
    Bitboard around = attacks_king(king) | square_bb(king);
    facts->king_zone[us] = around | forward(us, around);
    facts_add_attacks(facts, us, KING, attacks_king(king));
    facts_add_attacks(facts, us, PAWN, pawns_attacks(us, pawns));
}

EVAL_INLINE void facts_init(EvalFacts *facts, const Position *pos, const PawnEntry *pawns,
                            EvalTrace *trace) {
    *facts =
        (EvalFacts){.pos = pos, .pawns = pawns, .trace = trace, .occupied = position_occupied(pos)};
    facts_init_side(facts, WHITE);
    facts_init_side(facts, BLACK);
}

// Where pawns and king of a colour stand, in White's view.
EVAL_INLINE Pair eval_pawn_and_king_squares(const EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    Pair score = piece_on_square(facts->trace, us, KING, position_king(pos, us));
    for (Bitboard b = position_pieces(pos, us, PAWN); b;)
        score += piece_on_square(facts->trace, us, PAWN, bitboard_pop(&b));
    return score;
}

EVAL_INLINE int phase_of(const Position *pos) {
    int phase = bitboard_count(pos->by_type[KNIGHT] | pos->by_type[BISHOP]) +
                2 * bitboard_count(pos->by_type[ROOK]) + 4 * bitboard_count(pos->by_type[QUEEN]);
    return phase < PHASE_FULL ? phase : PHASE_FULL;
}

// The sum of all terms, in White's view.
EVAL_INLINE Pair eval_terms(EvalFacts *facts) {
    Pair squares =
        eval_pawn_and_king_squares(facts, WHITE) + eval_pawn_and_king_squares(facts, BLACK);
    // In this order, because the later terms need the attacks of both sides.
    Pair score = facts->pawns->score;
    score += eval_pieces(facts, WHITE, &squares);
    score -= eval_pieces(facts, BLACK, &squares);
    score += eval_king(facts, WHITE) - eval_king(facts, BLACK);
    score += eval_passed(facts, WHITE) - eval_passed(facts, BLACK);
    score += eval_threats(facts, WHITE) - eval_threats(facts, BLACK);
    score += eval_space(facts, WHITE) - eval_space(facts, BLACK);
    return score + squares;
}

// One score for the side to move. `scale`: 64ths of the endgame value.
EVAL_INLINE Score eval_mix(Pair total, int winnable_by, int phase, int scale, Color side,
                           int rule50, int tempo) {
    int mg = pair_mg(total), eg = winnable_endgame(pair_eg(total), winnable_by) * scale / 64;
    Score score = (mg * phase + eg * (PHASE_FULL - phase)) / PHASE_FULL;
    score = (side == WHITE ? score : -score) + tempo;
    // The score decreases with the fifty-move counter.
    return score * (200 - (rule50 < 100 ? rule50 : 100)) / 200;
}

EVAL_INLINE Score eval_position(const Position *pos, const PawnEntry *pawns, EvalTrace *trace) {
    Score known;
    if (endgame_has_bare_king(pos) && endgame_is_known(pos, &known))
        return known; // not reduced: that would hide the way to the mate
    EvalFacts facts;
    facts_init(&facts, pos, pawns, trace);
    Pair total = eval_terms(&facts);
    int scale = endgame_scale(pos, pawns, pair_eg(total) > 0 ? WHITE : BLACK);
    return eval_mix(total, eval_winnable(&facts), phase_of(pos), scale, pos->side, pos->rule50,
                    EVAL.tempo);
}
