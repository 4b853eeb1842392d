// Evaluation: piece terms and how all terms are put together. Pawn structure is in pawns.c, passed
// pawns and threats in eval_threats.c, king safety in eval_king.c, piece squares in psqt.c.
#include "eval.h"

#include "eval_terms.h"

static const Pair BISHOP_PAIR = PAIR(26, 58);
static const Pair ROOK_OPEN_FILE = PAIR(36, 12);
static const Pair ROOK_HALF_OPEN_FILE = PAIR(15, 8);
static const Pair ROOK_ON_SEVENTH = PAIR(4, 22);
static const Pair ROOK_BEHIND_PASSED = PAIR(4, 16);
static const Pair KNIGHT_OUTPOST = PAIR(30, 18);
static const Pair BISHOP_OUTPOST = PAIR(20, 6);
static const Pair BISHOP_BAD_PAWN = PAIR(-3, -6); // a pawn on its own bishop's colour
static const Pair MINOR_BEHIND_PAWN = PAIR(6, 2);
enum { TEMPO = 18 };

// By the number of squares in the mobility area.
static const Pair KNIGHT_MOBILITY[9] = {PAIR(-50, -70), PAIR(-36, -46), PAIR(-12, -24),
                                        PAIR(-4, -8),   PAIR(4, 2),     PAIR(10, 14),
                                        PAIR(18, 20),   PAIR(26, 22),   PAIR(34, 20)};
static const Pair BISHOP_MOBILITY[14] = {
    PAIR(-42, -60), PAIR(-26, -40), PAIR(-8, -22), PAIR(0, -8),  PAIR(8, 4),
    PAIR(16, 16),   PAIR(22, 24),   PAIR(26, 30),  PAIR(30, 34), PAIR(33, 36),
    PAIR(38, 36),   PAIR(46, 34),   PAIR(52, 40),  PAIR(60, 36)};
static const Pair ROOK_MOBILITY[15] = {
    PAIR(-50, -80), PAIR(-30, -50), PAIR(-18, -24), PAIR(-12, -8), PAIR(-8, 4),
    PAIR(-6, 14),   PAIR(-2, 22),   PAIR(4, 28),    PAIR(10, 34),  PAIR(14, 40),
    PAIR(18, 46),   PAIR(22, 50),   PAIR(26, 54),   PAIR(32, 54),  PAIR(40, 50)};
static const Pair QUEEN_MOBILITY[28] = {
    PAIR(-60, -90), PAIR(-40, -80), PAIR(-26, -66), PAIR(-18, -50), PAIR(-12, -36), PAIR(-8, -22),
    PAIR(-6, -10),  PAIR(-3, 0),    PAIR(-1, 8),    PAIR(1, 16),    PAIR(3, 22),    PAIR(6, 28),
    PAIR(8, 34),    PAIR(10, 38),   PAIR(12, 42),   PAIR(14, 46),   PAIR(16, 50),   PAIR(17, 54),
    PAIR(18, 56),   PAIR(20, 58),   PAIR(22, 60),   PAIR(26, 60),   PAIR(30, 58),   PAIR(34, 58),
    PAIR(40, 56),   PAIR(46, 56),   PAIR(52, 54),   PAIR(58, 52)};
static const Pair *const MOBILITY[PIECE_TYPE_NB] = {[KNIGHT] = KNIGHT_MOBILITY,
                                                    [BISHOP] = BISHOP_MOBILITY,
                                                    [ROOK] = ROOK_MOBILITY,
                                                    [QUEEN] = QUEEN_MOBILITY};

// What a piece adds to the pressure on the enemy king when it looks at his zone.
static const int KING_PRESSURE[PIECE_TYPE_NB] = {
    [KNIGHT] = 38, [BISHOP] = 28, [ROOK] = 38, [QUEEN] = 30};

// Middlegame share of a piece; 24 in all is a full middlegame.
static const int PHASE[PIECE_TYPE_NB] = {[KNIGHT] = 1, [BISHOP] = 1, [ROOK] = 2, [QUEEN] = 4};
enum { PHASE_FULL = 24 };

void eval_init(void) {
    psqt_init();
}

static void facts_add_attacks(EvalFacts *facts, Color us, PieceType t, Bitboard attacks) {
    facts->twice[us] |= facts->all[us] & attacks;
    facts->all[us] |= attacks;
    facts->attacks[us][t] |= attacks;
}

static void facts_init_side(EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    Color them = color_flip(us);
    Square king = position_king(pos, us);
    Bitboard pawns = position_pieces(pos, us, PAWN);
    Bitboard their_pawn_attacks = pawns_attacks(them, position_pieces(pos, them, PAWN));
    Bitboard blocked = us == WHITE ? facts->occupied >> 8 : facts->occupied << 8;
    facts->mobility_area[us] = ~(their_pawn_attacks | (pawns & blocked) | square_bb(king));
    // The zone is wider towards the enemy.
    Bitboard around = attacks_king(king) | square_bb(king);
    facts->king_zone[us] = around | (us == WHITE ? around << 8 : around >> 8);
    facts_add_attacks(facts, us, KING, attacks_king(king));
    facts_add_attacks(facts, us, PAWN, pawns_attacks(us, pawns));
}

static void facts_init(EvalFacts *facts, const Position *pos, const PawnEntry *pawns) {
    *facts = (EvalFacts){.pos = pos, .pawns = pawns, .occupied = position_occupied(pos)};
    facts_init_side(facts, WHITE);
    facts_init_side(facts, BLACK);
}

// Sliders see through their own queens and rooks, which move along.
static Bitboard piece_attacks(const EvalFacts *facts, Color us, PieceType t, Square s) {
    const Position *pos = facts->pos;
    switch (t) {
    case KNIGHT:
        return attacks_knight(s);
    case BISHOP:
        return attacks_bishop(s, facts->occupied ^ position_pieces(pos, us, QUEEN));
    case ROOK:
        return attacks_rook(s, facts->occupied ^ position_pieces(pos, us, QUEEN) ^
                                   position_pieces(pos, us, ROOK));
    default:
        return attacks_queen(s, facts->occupied);
    }
}

static void facts_add_king_pressure(EvalFacts *facts, Color us, PieceType t, Bitboard attacks) {
    Bitboard hits = attacks & facts->king_zone[color_flip(us)];
    if (!hits)
        return;
    facts->king_attackers[us]++;
    facts->king_pressure[us] += KING_PRESSURE[t] + 6 * bitboard_count(hits);
}

// A square ahead that no enemy pawn can ever attack and an own pawn guards.
static bool square_is_outpost(const EvalFacts *facts, Color us, Square s) {
    int rank = square_rank(square_relative(us, s));
    return rank >= 3 && rank <= 5 && !(facts->pawns->spans[color_flip(us)] & square_bb(s)) &&
           facts->attacks[us][PAWN] & square_bb(s);
}

static Pair eval_minor(const EvalFacts *facts, Color us, PieceType t, Square s) {
    const Position *pos = facts->pos;
    Pair score = 0;
    if (square_is_outpost(facts, us, s))
        score += t == KNIGHT ? KNIGHT_OUTPOST : BISHOP_OUTPOST;
    Bitboard ahead = us == WHITE ? square_bb(s) << 8 : square_bb(s) >> 8;
    if (ahead & pos->by_type[PAWN])
        score += MINOR_BEHIND_PAWN;
    if (t == BISHOP) {
        const Bitboard dark = UINT64_C(0xaa55aa55aa55aa55);
        Bitboard same = dark & square_bb(s) ? dark : ~dark;
        score += BISHOP_BAD_PAWN * bitboard_count(position_pieces(pos, us, PAWN) & same);
    }
    return score;
}

static Pair eval_rook(const EvalFacts *facts, Color us, Square s) {
    const Position *pos = facts->pos;
    Color them = color_flip(us);
    Bitboard file = bitboard_file(square_file(s));
    Pair score = 0;
    if (!(file & pos->by_type[PAWN]))
        score += ROOK_OPEN_FILE;
    else if (!(file & position_pieces(pos, us, PAWN)))
        score += ROOK_HALF_OPEN_FILE;
    bool king_is_cut = square_rank(square_relative(us, position_king(pos, them))) >= 6;
    if (square_rank(square_relative(us, s)) == 6 && king_is_cut)
        score += ROOK_ON_SEVENTH;
    if (pawns_front(us, square_bb(s)) & file &
        (facts->pawns->passed[us] | facts->pawns->passed[them]))
        score += ROOK_BEHIND_PASSED;
    return score;
}

static Pair eval_piece(const EvalFacts *facts, Color us, PieceType t, Square s) {
    switch (t) {
    case KNIGHT:
    case BISHOP:
        return eval_minor(facts, us, t, s);
    case ROOK:
        return eval_rook(facts, us, s);
    default:
        return 0;
    }
}

static Pair eval_pieces(EvalFacts *facts, Color us) {
    const Position *pos = facts->pos;
    Pair score = 0;
    for (PieceType t = KNIGHT; t <= QUEEN; t++)
        for (Bitboard b = position_pieces(pos, us, t); b;) {
            Square s = bitboard_pop(&b);
            Bitboard attacks = piece_attacks(facts, us, t, s);
            facts_add_attacks(facts, us, t, attacks);
            facts_add_king_pressure(facts, us, t, attacks);
            score += PSQT[piece_make(us, t)][s] * (us == WHITE ? 1 : -1);
            score += MOBILITY[t][bitboard_count(attacks & facts->mobility_area[us])];
            score += eval_piece(facts, us, t, s);
        }
    if (bitboard_many(position_pieces(pos, us, BISHOP)))
        score += BISHOP_PAIR;
    return score;
}

static Pair eval_pawn_and_king_squares(const Position *pos) {
    Pair score = PSQT[piece_make(WHITE, KING)][position_king(pos, WHITE)] +
                 PSQT[piece_make(BLACK, KING)][position_king(pos, BLACK)];
    for (Bitboard b = position_pieces(pos, WHITE, PAWN); b;)
        score += PSQT[piece_make(WHITE, PAWN)][bitboard_pop(&b)];
    for (Bitboard b = position_pieces(pos, BLACK, PAWN); b;)
        score += PSQT[piece_make(BLACK, PAWN)][bitboard_pop(&b)];
    return score;
}

static int phase_of(const Position *pos) {
    int phase = 0;
    for (PieceType t = KNIGHT; t <= QUEEN; t++)
        phase += PHASE[t] * bitboard_count(pos->by_type[t]);
    return phase < PHASE_FULL ? phase : PHASE_FULL;
}

Score evaluate(const Position *pos, PawnCache *cache) {
    const PawnEntry *pawns = pawns_probe(cache, pos);
    EvalFacts facts;
    facts_init(&facts, pos, pawns);
    Pair total = pawns->score + eval_pawn_and_king_squares(pos);
    // One after the other: each side's terms need the attacks of both.
    total += eval_pieces(&facts, WHITE);
    total -= eval_pieces(&facts, BLACK);
    total += eval_king(&facts, WHITE) - eval_king(&facts, BLACK);
    total += eval_passed(&facts, WHITE) - eval_passed(&facts, BLACK);
    total += eval_threats(&facts, WHITE) - eval_threats(&facts, BLACK);

    int phase = phase_of(pos), mg = pair_mg(total);
    int eg = pair_eg(total) * eval_scale(pos, pair_eg(total)) / 64;
    Score score = (mg * phase + eg * (PHASE_FULL - phase)) / PHASE_FULL;
    score = (pos->side == WHITE ? score : -score) + TEMPO;
    // Shuffling without progress is worth less and less.
    return score * (200 - (pos->rule50 < 100 ? pos->rule50 : 100)) / 200;
}
