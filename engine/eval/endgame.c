// Endgames: mates that need a plan, material with which the game is a draw, and the scale of an
// advantage.
#include "eval/endgame.h"

#include <stdlib.h>

#include "eval/kpk.h"
#include "rules/bitboard.h"
#include "rules/movegen.h"

enum {
    SCALE_FULL = 64,
    SCORE_KNOWN_WIN = 1500, // plus the material: more than any score of the sum of terms
    SCORE_KPK = 500,        // less than the value of a queen
};
static const Bitboard DARK = UINT64_C(0xaa55aa55aa55aa55);

void endgame_init(void) {
    kpk_init();
}

// ---- helpers -----------------------------------------------------------------------------------

static int count_of(const Position *pos, Color c, PieceType t) {
    return bitboard_count(position_pieces(pos, c, t));
}

static int piece_worth(const Position *pos, Color c) {
    return 3 * (count_of(pos, c, KNIGHT) + count_of(pos, c, BISHOP)) + 5 * count_of(pos, c, ROOK) +
           9 * count_of(pos, c, QUEEN);
}

static int king_distance(Square a, Square b) {
    int files = abs(square_file(a) - square_file(b)), ranks = abs(square_rank(a) - square_rank(b));
    return files > ranks ? files : ranks;
}

static bool is_on_both_colours(Bitboard set) {
    return set & DARK && set & ~DARK;
}

static bool is_on_one_flank(Bitboard pawns) {
    const Bitboard a_to_d = UINT64_C(0x0f0f0f0f0f0f0f0f);
    return !(pawns & a_to_d) || !(pawns & ~a_to_d);
}

// ---- a king alone ------------------------------------------------------------------------------

static bool can_mate(const Position *pos, Color strong) {
    Bitboard bishops = position_pieces(pos, strong, BISHOP);
    int knights = count_of(pos, strong, KNIGHT);
    return position_pieces(pos, strong, QUEEN) | position_pieces(pos, strong, ROOK) ||
           is_on_both_colours(bishops) || (bishops && knights) || knights > 2;
}

// Steps from the four squares of the centre, over files and ranks together.
static int centre_distance(Square s) {
    int file = square_file(s), rank = square_rank(s);
    return (file < 4 ? 3 - file : file - 4) + (rank < 4 ? 3 - rank : rank - 4);
}

// The bare king is driven to the edge, and our king follows (chessprogramming wiki, Mop-up
// Evaluation).
static Score mop_up(Square ours, Square theirs) {
    int apart =
        abs(square_file(ours) - square_file(theirs)) + abs(square_rank(ours) - square_rank(theirs));
    return 20 * centre_distance(theirs) + 10 * (14 - apart);
}

// Bishop and knight mate only in the corners that the bishop can reach: 7 there, 0 in the others.
static int right_corner(Square king, bool dark) {
    int file = square_file(king), rank = square_rank(king);
    return dark ? abs(file + rank - 7) : abs(file - rank);
}

static bool is_bishop_and_knight(const Position *pos, Color strong) {
    return count_of(pos, strong, BISHOP) == 1 && count_of(pos, strong, KNIGHT) == 1 &&
           bitboard_count(pos->by_color[strong]) == 3;
}

static Score mating_score(const Position *pos, Color strong) {
    Square ours = position_king(pos, strong), theirs = position_king(pos, color_flip(strong));
    Score score = SCORE_KNOWN_WIN + 100 * (piece_worth(pos, strong) + count_of(pos, strong, PAWN));
    if (is_bishop_and_knight(pos, strong))
        score += 60 * right_corner(theirs, pos->by_type[BISHOP] & DARK);
    return score + mop_up(ours, theirs);
}

static Score kpk_score(const Position *pos, Color strong) {
    Square pawn = bitboard_first(pos->by_type[PAWN]);
    if (!kpk_is_won(strong, position_king(pos, strong), pawn,
                    position_king(pos, color_flip(strong)), pos->side))
        return 0;
    return SCORE_KPK + 30 * square_rank(square_relative(strong, pawn));
}

static bool is_stalemate(const Position *pos) {
    MoveList list;
    if (pos->checkers)
        return false;
    movegen_legal(pos, &list);
    return list.size == 0;
}

bool endgame_is_known(const Position *pos, Score *score) {
    Color strong = bitboard_many(pos->by_color[WHITE]) ? WHITE : BLACK;
    int pawns = count_of(pos, strong, PAWN);
    Score worth;
    if (pos->side != strong && is_stalemate(pos))
        worth = 0;
    else if (can_mate(pos, strong))
        worth = mating_score(pos, strong);
    else if (pawns == 0)
        worth = 0;
    else if (pawns == 1 && bitboard_count(pos->by_color[strong]) == 2)
        worth = kpk_score(pos, strong);
    else
        return false;
    *score = pos->side == strong ? worth : -worth;
    return true;
}

// ---- scaling -----------------------------------------------------------------------------------

// The strong side has only rook pawns on one file, at most with bishops that do not control the
// promotion corner, and the other king is in the corner or next to it.
static bool rook_pawns_are_held(const Position *pos, Color strong) {
    Bitboard pawns = position_pieces(pos, strong, PAWN);
    Bitboard bishops = position_pieces(pos, strong, BISHOP);
    if (bitboard_count(pos->by_color[strong]) - 1 != bitboard_count(pawns | bishops))
        return false;
    int file = square_file(bitboard_first(pawns));
    if ((file != 0 && file != 7) || pawns & ~bitboard_file(file))
        return false;
    Square goal = square_relative(strong, square_make(file, 7));
    if (bishops & (square_bb(goal) & DARK ? DARK : ~DARK))
        return false;
    return king_distance(position_king(pos, color_flip(strong)), goal) <= 1;
}

static bool bishops_are_opposite(const Position *pos) {
    return count_of(pos, WHITE, BISHOP) == 1 && count_of(pos, BLACK, BISHOP) == 1 &&
           is_on_both_colours(pos->by_type[BISHOP]);
}

// A queen or rook against one pawn that is about to promote beside its king.
static bool pawn_holds_major(const Position *pos, Color strong) {
    Color weak = color_flip(strong);
    Bitboard pawns = position_pieces(pos, weak, PAWN);
    if (bitboard_count(pos->by_color[strong]) != 2 || bitboard_count(pos->by_color[weak]) != 2 ||
        !pawns)
        return false;
    Square pawn = bitboard_first(pawns);
    Square goal = square_relative(weak, square_make(square_file(pawn), 7));
    int steps = king_distance(pawn, goal);
    bool near = king_distance(position_king(pos, weak), pawn) == 1;
    int way = king_distance(position_king(pos, strong), goal);
    if (position_pieces(pos, strong, QUEEN))
        return near && steps == 1 && way > 4 && UINT64_C(0xa5) >> square_file(pawn) & 1;
    return near && steps <= 3 && way > steps + 2;
}

// Rook and pawn against rook is not won while the defending king stands in front of the pawn.
static bool king_stops_rook_pawn(const Position *pos, Color strong) {
    Color weak = color_flip(strong);
    if (count_of(pos, strong, ROOK) != 1 || count_of(pos, weak, ROOK) != 1 ||
        bitboard_count(pos->by_color[strong]) != 3 || bitboard_count(pos->by_color[weak]) != 2 ||
        !position_pieces(pos, strong, PAWN))
        return false;
    Bitboard pawn = position_pieces(pos, strong, PAWN);
    return pawns_front(strong, pawn) & position_pieces(pos, weak, KING);
}

static int opposite_bishops_scale(const Position *pos, const PawnEntry *pawns, Color strong) {
    if (piece_worth(pos, WHITE) == 3 && piece_worth(pos, BLACK) == 3)
        return 16 + 8 * bitboard_count(pawns->passed[strong]);
    return 24 + 3 * bitboard_count(pos->by_color[strong]);
}

// The scale by the pawns that are left, for endgames without a rule of their own.
static int pawns_scale(const Position *pos, Color strong) {
    int ours = piece_worth(pos, strong), theirs = piece_worth(pos, color_flip(strong));
    int pawns = count_of(pos, strong, PAWN), lead = pawns - count_of(pos, color_flip(strong), PAWN);
    bool rooks_only = ours == 5 && theirs == 5;
    if (rooks_only && lead <= 1 && is_on_one_flank(pos->by_type[PAWN]))
        return 36;
    // The weaker side can give a minor piece for the last pawn.
    if (pawns == 1 && ours <= theirs && theirs == 3)
        return 32;
    return pawns >= 4 ? SCALE_FULL : 48 + 4 * pawns;
}

int endgame_scale(const Position *pos, const PawnEntry *pawns, Color strong) {
    int ours = piece_worth(pos, strong), theirs = piece_worth(pos, color_flip(strong));
    // Without pawns, an advantage of less than a rook does not win.
    if (!position_pieces(pos, strong, PAWN)) {
        if (ours - theirs <= 3)
            return ours < 5 ? 0 : 8;
        return pawn_holds_major(pos, strong) ? 8 : 48;
    }
    if (rook_pawns_are_held(pos, strong))
        return 0;
    if (king_stops_rook_pawn(pos, strong))
        return 16;
    int scale = pawns_scale(pos, strong);
    if (!bishops_are_opposite(pos))
        return scale;
    int opposite = opposite_bishops_scale(pos, pawns, strong);
    return opposite < scale ? opposite : scale;
}
