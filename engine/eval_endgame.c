// Endgame scaling.
#include "eval_endgame.h"

#include "rules/bitboard.h"

static bool bishops_are_opposite(const Position *pos) {
    const Bitboard dark = UINT64_C(0xaa55aa55aa55aa55);
    Bitboard bishops = pos->by_type[BISHOP];
    return bitboard_count(position_pieces(pos, WHITE, BISHOP)) == 1 &&
           bitboard_count(position_pieces(pos, BLACK, BISHOP)) == 1 && bishops & dark &&
           bishops & ~dark;
}

static int piece_worth(const Position *pos, Color c) {
    return 3 * bitboard_count(position_pieces(pos, c, KNIGHT) | position_pieces(pos, c, BISHOP)) +
           5 * bitboard_count(position_pieces(pos, c, ROOK)) +
           9 * bitboard_count(position_pieces(pos, c, QUEEN));
}

int endgame_scale(const Position *pos, Color strong) {
    int pawns = bitboard_count(position_pieces(pos, strong, PAWN));
    int ours = piece_worth(pos, strong), theirs = piece_worth(pos, color_flip(strong));
    // Without pawns, less than a rook more does not win.
    if (!pawns && ours - theirs <= 3)
        return ours < 5 ? 0 : 8;
    if (bishops_are_opposite(pos))
        return ours == 3 && theirs == 3 ? 32 : 48;
    return pawns >= 4 ? 64 : 48 + 4 * pawns;
}
