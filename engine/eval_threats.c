// Evaluation of what is about to happen: passed pawns and pieces under attack; and how drawish the
// material is.
#include "eval_terms.h"

static const Pair PASSED_FREE_STOP[8] = {
    0, 0, 0, PAIR(4, 8), PAIR(8, 18), PAIR(14, 34), PAIR(22, 56), 0};
static const Pair PASSED_FREE_PATH[8] = {
    0, 0, 0, PAIR(4, 10), PAIR(8, 24), PAIR(16, 44), PAIR(20, 60), 0};
// Endgame only, a square of distance, by the pawn's rank.
static const int PASSED_KING_DISTANCE[8] = {0, 0, 0, 3, 7, 12, 15, 0};

static const Pair PAWN_ATTACKS_PIECE = PAIR(56, 34);
static const Pair MINOR_ATTACKS_MAJOR = PAIR(40, 30);
static const Pair ROOK_ATTACKS_QUEEN = PAIR(44, 26);
static const Pair PIECE_HANGS = PAIR(24, 20);
static const Pair PAWN_HANGS = PAIR(2, 12);
static const Pair PAWN_PUSH_THREAT = PAIR(16, 14);

static int distance(Square a, Square b) {
    int files = square_file(a) - square_file(b), ranks = square_rank(a) - square_rank(b);
    files = files < 0 ? -files : files;
    ranks = ranks < 0 ? -ranks : ranks;
    return files > ranks ? files : ranks;
}

static Pair eval_passed_pawn(const EvalFacts *facts, Color us, Square s) {
    Color them = color_flip(us);
    int rank = square_rank(square_relative(us, s));
    Bitboard stop = us == WHITE ? square_bb(s) << 8 : square_bb(s) >> 8;
    Bitboard path = pawns_front(us, square_bb(s));
    Pair score = 0;
    if (!(stop & facts->occupied))
        score += PASSED_FREE_STOP[rank];
    if (!(path & (facts->occupied | facts->all[them])))
        score += PASSED_FREE_PATH[rank];
    Square ahead = bitboard_first(stop);
    int nearer = distance(position_king(facts->pos, them), ahead) -
                 distance(position_king(facts->pos, us), ahead);
    return score + PAIR(0, nearer * PASSED_KING_DISTANCE[rank]);
}

Pair eval_passed(const EvalFacts *facts, Color us) {
    Pair score = 0;
    for (Bitboard b = facts->pawns->passed[us]; b;)
        score += eval_passed_pawn(facts, us, bitboard_pop(&b));
    return score;
}

// Enemy pieces that pawns could attack by one safe step.
static Bitboard pawn_push_targets(const EvalFacts *facts, Color us) {
    Bitboard pawns = position_pieces(facts->pos, us, PAWN);
    Bitboard steps = (us == WHITE ? pawns << 8 : pawns >> 8) & ~facts->occupied;
    steps &= ~facts->attacks[color_flip(us)][PAWN] & (facts->all[us] | ~facts->all[color_flip(us)]);
    return pawns_attacks(us, steps);
}

Pair eval_threats(const EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    Color them = color_flip(us);
    Bitboard pawns = position_pieces(pos, them, PAWN);
    Bitboard pieces = pos->by_color[them] & ~pawns & ~position_pieces(pos, them, KING);
    Bitboard queens = position_pieces(pos, them, QUEEN);
    Bitboard majors = queens | position_pieces(pos, them, ROOK);
    Bitboard minors_attack = facts->attacks[us][KNIGHT] | facts->attacks[us][BISHOP];
    Bitboard hanging = facts->all[us] & ~facts->all[them];
    return PAWN_ATTACKS_PIECE * bitboard_count(pieces & facts->attacks[us][PAWN]) +
           MINOR_ATTACKS_MAJOR * bitboard_count(majors & minors_attack) +
           ROOK_ATTACKS_QUEEN * bitboard_count(queens & facts->attacks[us][ROOK]) +
           PIECE_HANGS * bitboard_count(pieces & hanging) +
           PAWN_HANGS * bitboard_count(pawns & hanging) +
           PAWN_PUSH_THREAT * bitboard_count(pieces & pawn_push_targets(facts, us));
}

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

int eval_scale(const Position *pos, int eg) {
    Color strong = eg > 0 ? WHITE : BLACK;
    int pawns = bitboard_count(position_pieces(pos, strong, PAWN));
    int ours = piece_worth(pos, strong), theirs = piece_worth(pos, color_flip(strong));
    // Without pawns, less than a rook more does not win.
    if (!pawns && ours - theirs <= 3)
        return ours < 5 ? 0 : 8;
    if (bishops_are_opposite(pos))
        return ours == 3 && theirs == 3 ? 32 : 48;
    return pawns >= 4 ? 64 : 48 + 4 * pawns;
}
