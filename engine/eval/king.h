// King safety: the pawns in front of the king, and the enemy pieces that can attack it. A part of
// the evaluation's template (terms.h).
#pragma once

#include "eval/terms.h"
#include "rules/legality.h"

// A danger of u units costs u * u / DANGER_SQUARE in the middlegame and u / DANGER_LINE in the
// endgame. A danger above DANGER_MAX counts as DANGER_MAX.
enum { DANGER_MAX = 900, DANGER_SQUARE = 1024, DANGER_LINE = 12 };

// The flank of the king: four files.
EVAL_INLINE Bitboard king_flank(Square king) {
    const Bitboard a_to_d = UINT64_C(0x0f0f0f0f0f0f0f0f);
    int file = square_file(king);
    return file < 3 ? a_to_d : file < 5 ? a_to_d << 2 : a_to_d << 4;
}

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
    if (!(king_flank(king) & pos->by_type[PAWN]))
        score += term(facts->trace, us, &EVAL.king_bare_flank, 1);
    return score;
}

// Enemy pieces that attack squares around the king. Attackers help each other, so the danger of
// each is multiplied by their number (chessprogramming wiki, King Safety, "attack units").
EVAL_INLINE int danger_of_attackers(const EvalFacts *facts, Color us) {
    const int *attackers = facts->king_attackers[color_flip(us)];
    int count = attackers[0] + attackers[1] + attackers[2] + attackers[3], quarters = 0;
    for (int i = 0; i < 4; i++)
        quarters += danger(facts->trace, us, &EVAL.king_attacker[i], attackers[i] * count);
    return quarters +
           danger(facts->trace, us, &EVAL.king_hit, facts->king_hits[color_flip(us)] * count);
}

// Squares that the enemy attacks and we defend with king or queen alone, or not at all.
EVAL_INLINE Bitboard weak_squares(const EvalFacts *facts, Color us) {
    Bitboard by_royalty = facts->attacks[us][KING] | facts->attacks[us][QUEEN];
    return facts->all[color_flip(us)] & ~facts->twice[us] & (~facts->all[us] | by_royalty);
}

EVAL_INLINE int danger_of_weak_squares(const EvalFacts *facts, Color us) {
    Bitboard weak = weak_squares(facts, us) & attacks_king(position_king(facts->pos, us));
    return danger(facts->trace, us, &EVAL.king_weak_square, 4 * bitboard_count(weak));
}

// Checks that enemy pieces could give. A check is safe if the piece could not be captured without a
// loss. Unsafe checks of a piece type count only if it has no safe one.
EVAL_INLINE int danger_of_checks(const EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    Color them = color_flip(us);
    Square king = position_king(pos, us);
    Bitboard without_queen = facts->occupied ^ position_pieces(pos, us, QUEEN);
    Bitboard lines = attacks_rook(king, without_queen);
    Bitboard diagonals = attacks_bishop(king, without_queen);
    Bitboard safe = ~facts->all[us] | (weak_squares(facts, us) & facts->twice[them]);
    const Bitboard from[4] = {attacks_knight(king), diagonals, lines, lines | diagonals};
    int quarters = 0, unsafe = 0;
    for (int i = 0; i < 4; i++) {
        Bitboard checks = from[i] & facts->attacks[them][KNIGHT + i] & ~pos->by_color[them];
        if (checks & safe)
            quarters += danger(facts->trace, us, &EVAL.safe_check[i], 4);
        else if (checks)
            unsafe++;
    }
    return quarters + danger(facts->trace, us, &EVAL.unsafe_check, 4 * unsafe);
}

// Squares of our half of the king's flank, and of the rank beyond, that they attack and that we
// defend.
EVAL_INLINE int danger_on_flank(const EvalFacts *facts, Color us) {
    Color them = color_flip(us);
    const Bitboard camp = us == WHITE ? UINT64_C(0xffffffffff) : UINT64_C(0xffffffffff000000);
    Bitboard flank = camp & king_flank(position_king(facts->pos, us));
    int attacked =
        bitboard_count(flank & facts->all[them]) + bitboard_count(flank & facts->twice[them]);
    int defended = bitboard_count(flank & facts->all[us]);
    return danger(facts->trace, us, &EVAL.flank_attack, 4 * attacked) +
           danger(facts->trace, us, &EVAL.flank_defence, 4 * defended);
}

// Our pieces that are pinned to the king, and a knight that guards squares next to the king.
EVAL_INLINE int danger_of_defenders(const EvalFacts *facts, Color us) {
    int pinned = bitboard_count(pinned_pieces(facts->pos, us)), quarters = 0;
    quarters += danger(facts->trace, us, &EVAL.king_blocker, 4 * pinned);
    if (facts->attacks[us][KNIGHT] & attacks_king(position_king(facts->pos, us)))
        quarters += danger(facts->trace, us, &EVAL.knight_guard, 4);
    return quarters;
}

EVAL_INLINE int king_danger(const EvalFacts *facts, Color us) {
    int quarters = danger_of_attackers(facts, us) + danger_of_weak_squares(facts, us) +
                   danger_of_checks(facts, us) + danger_on_flank(facts, us) +
                   danger_of_defenders(facts, us);
    if (!position_pieces(facts->pos, color_flip(us), QUEEN))
        quarters += danger(facts->trace, us, &EVAL.no_queen, 4);
    return quarters;
}

// The cost of a danger that is given in quarters of a unit.
EVAL_INLINE Pair king_danger_cost(int quarters) {
    int units = quarters <= 0 ? 0 : quarters / 4 < DANGER_MAX ? quarters / 4 : DANGER_MAX;
    return PAIR(units * units / DANGER_SQUARE, units / DANGER_LINE);
}

EVAL_INLINE Pair eval_king(const EvalFacts *facts, Color us) {
    return eval_king_shelter(facts, us) - king_danger_cost(king_danger(facts, us));
}
