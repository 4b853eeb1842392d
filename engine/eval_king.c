// King safety: the pawns before the king, and what the enemy pieces can do to him. The pressure
// counts quadratically, because attackers help each other (chessprogramming wiki, King Safety,
// "attack units").
#include "eval_terms.h"

enum {
    WEAK_SQUARE = 22, // attacked and defended by the king or queen alone
    SAFE_KNIGHT_CHECK = 90,
    SAFE_BISHOP_CHECK = 70,
    SAFE_ROOK_CHECK = 100,
    SAFE_QUEEN_CHECK = 80,
    NO_QUEEN_RELIEF = 130,
    PRESSURE_MAX = 900,
};

// By the rank of the own pawn nearest to the king on the file; 0: none there.
static const Pair SHELTER[8] = {PAIR(-28, 0), PAIR(20, -4), PAIR(12, 0),  PAIR(-6, 0),
                                PAIR(-14, 0), PAIR(-18, 0), PAIR(-18, 0), 0};
// By the rank of the enemy pawn nearest ahead, as the king's side counts; 0: none.
static const Pair STORM[8] = {PAIR(-4, 0), 0, PAIR(-34, -4), PAIR(-20, 0), PAIR(-6, 0), 0, 0, 0};
static const Pair KING_ON_OPEN_FILE = PAIR(-26, 0);

static int nearest_rank(Color us, Bitboard pawns) {
    if (!pawns)
        return 0;
    Square s = us == WHITE ? bitboard_first(pawns) : (Square)(63 - __builtin_clzll(pawns));
    return square_rank(square_relative(us, s));
}

static Pair king_shelter(const EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    Square king = position_king(pos, us);
    Bitboard behind = ~pawns_front(us, bitboard_rank(square_rank(king)));
    Bitboard not_behind = ~behind | bitboard_rank(square_rank(king));
    int centre = square_file(king) < 1 ? 1 : square_file(king) > 6 ? 6 : square_file(king);
    Pair score = 0;
    for (int file = centre - 1; file <= centre + 1; file++) {
        Bitboard scope = bitboard_file(file) & not_behind;
        score += SHELTER[nearest_rank(us, scope & position_pieces(pos, us, PAWN))];
        score += STORM[nearest_rank(us, scope & position_pieces(pos, color_flip(us), PAWN))];
    }
    if (!(bitboard_file(square_file(king)) & pos->by_type[PAWN]))
        score += KING_ON_OPEN_FILE;
    return score;
}

// Squares from which a piece of the enemy could give check and not be taken for nothing.
static int safe_checks(const EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    Color them = color_flip(us);
    Square king = position_king(pos, us);
    Bitboard without_queen = facts->occupied ^ position_pieces(pos, us, QUEEN);
    Bitboard lines = attacks_rook(king, without_queen);
    Bitboard diagonals = attacks_bishop(king, without_queen);
    Bitboard safe = ~pos->by_color[them] & ~facts->all[us];
    int units = 0;
    if (attacks_knight(king) & facts->attacks[them][KNIGHT] & safe)
        units += SAFE_KNIGHT_CHECK;
    if (diagonals & facts->attacks[them][BISHOP] & safe)
        units += SAFE_BISHOP_CHECK;
    if (lines & facts->attacks[them][ROOK] & safe)
        units += SAFE_ROOK_CHECK;
    if ((lines | diagonals) & facts->attacks[them][QUEEN] & safe)
        units += SAFE_QUEEN_CHECK;
    return units;
}

static int king_danger(const EvalFacts *facts, Color us) {
    Color them = color_flip(us);
    Bitboard guarded_once =
        facts->all[us] & ~facts->twice[us] & (facts->attacks[us][KING] | facts->attacks[us][QUEEN]);
    Bitboard weak = facts->all[them] & (~facts->all[us] | guarded_once);
    int danger = facts->king_pressure[them] * facts->king_attackers[them] / 4 +
                 WEAK_SQUARE * bitboard_count(weak & attacks_king(position_king(facts->pos, us))) +
                 safe_checks(facts, us);
    if (!position_pieces(facts->pos, them, QUEEN))
        danger -= NO_QUEEN_RELIEF;
    if (danger <= 0)
        return 0;
    return danger < PRESSURE_MAX ? danger : PRESSURE_MAX;
}

Pair eval_king(const EvalFacts *facts, Color us) {
    int danger = king_danger(facts, us);
    return king_shelter(facts, us) - PAIR(danger * danger / 1024, danger / 12);
}
