// King safety: the pawns before the king, and what the enemy pieces can do to him. Part of the
// evaluation's template (eval_terms.h).
#pragma once

#include "eval_terms.h"

// A danger of u units costs u * u / DANGER_SQUARE in the middlegame and u / DANGER_LINE in the
// endgame; more than DANGER_MAX is no worse.
enum { DANGER_MAX = 900, DANGER_SQUARE = 1024, DANGER_LINE = 12 };

EVAL_INLINE int nearest_rank(Color us, Bitboard pawns) {
    if (!pawns)
        return 0;
    Square s = us == WHITE ? bitboard_first(pawns) : (Square)(63 - __builtin_clzll(pawns));
    return square_rank(square_relative(us, s));
}

EVAL_INLINE Pair eval_king_shelter(const EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    Square king = position_king(pos, us);
    Bitboard rank = bitboard_rank(square_rank(king));
    Bitboard not_behind = rank | pawns_front(us, rank);
    int centre = square_file(king) < 1 ? 1 : square_file(king) > 6 ? 6 : square_file(king);
    Pair score = 0;
    for (int file = centre - 1; file <= centre + 1; file++) {
        Bitboard scope = bitboard_file(file) & not_behind;
        int shelter = nearest_rank(us, scope & position_pieces(pos, us, PAWN));
        int storm = nearest_rank(us, scope & position_pieces(pos, color_flip(us), PAWN));
        score += term(facts->trace, us, &EVAL.shelter[shelter], 1) +
                 term(facts->trace, us, &EVAL.storm[storm], 1);
    }
    if (!(bitboard_file(square_file(king)) & pos->by_type[PAWN]))
        score += term(facts->trace, us, &EVAL.king_on_open_file, 1);
    return score;
}

// Enemy pieces that look at squares about the king. Attackers help each other, so what each adds
// counts as often as there are attackers (chessprogramming wiki, King Safety, "attack units").
EVAL_INLINE int danger_of_attackers(const EvalFacts *facts, Color us) {
    const int *attackers = facts->king_attackers[color_flip(us)];
    int count = attackers[0] + attackers[1] + attackers[2] + attackers[3], quarters = 0;
    for (int i = 0; i < 4; i++)
        quarters += danger(facts->trace, us, &EVAL.king_attacker[i], attackers[i] * count);
    return quarters +
           danger(facts->trace, us, &EVAL.king_hit, facts->king_hits[color_flip(us)] * count);
}

// Squares beside the king that are attacked and defended by him or his queen alone.
EVAL_INLINE int danger_of_weak_squares(const EvalFacts *facts, Color us) {
    Bitboard guarded_once =
        facts->all[us] & ~facts->twice[us] & (facts->attacks[us][KING] | facts->attacks[us][QUEEN]);
    Bitboard weak = facts->all[color_flip(us)] & (~facts->all[us] | guarded_once) &
                    attacks_king(position_king(facts->pos, us));
    return danger(facts->trace, us, &EVAL.king_weak_square, 4 * bitboard_count(weak));
}

// Squares from which a piece of the enemy could give check and not be taken for nothing.
EVAL_INLINE int danger_of_safe_checks(const EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    Color them = color_flip(us);
    Square king = position_king(pos, us);
    Bitboard without_queen = facts->occupied ^ position_pieces(pos, us, QUEEN);
    Bitboard lines = attacks_rook(king, without_queen);
    Bitboard diagonals = attacks_bishop(king, without_queen);
    Bitboard safe = ~pos->by_color[them] & ~facts->all[us];
    const Bitboard from[4] = {attacks_knight(king), diagonals, lines, lines | diagonals};
    int quarters = 0;
    for (int i = 0; i < 4; i++)
        if (from[i] & facts->attacks[them][KNIGHT + i] & safe)
            quarters += danger(facts->trace, us, &EVAL.safe_check[i], 4);
    return quarters;
}

EVAL_INLINE int king_danger(const EvalFacts *facts, Color us) {
    int quarters = danger_of_attackers(facts, us) + danger_of_weak_squares(facts, us) +
                   danger_of_safe_checks(facts, us);
    if (!position_pieces(facts->pos, color_flip(us), QUEEN))
        quarters += danger(facts->trace, us, &EVAL.no_queen, 4);
    return quarters;
}

// What a danger in quarters of a unit costs.
EVAL_INLINE Pair king_danger_cost(int quarters) {
    int units = quarters <= 0 ? 0 : quarters / 4 < DANGER_MAX ? quarters / 4 : DANGER_MAX;
    return PAIR(units * units / DANGER_SQUARE, units / DANGER_LINE);
}

EVAL_INLINE Pair eval_king(const EvalFacts *facts, Color us) {
    return eval_king_shelter(facts, us) - king_danger_cost(king_danger(facts, us));
}
