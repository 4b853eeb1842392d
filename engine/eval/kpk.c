// King and pawn against king, by retrograde analysis. White has the pawn, on the files a to d; all
// other positions are mirror images of these. First, each position is classified as won, drawn,
// impossible or unknown by what is visible without a move. Then unknown positions are classified by
// the positions to which their moves lead, again and again until nothing changes.
#include "eval/kpk.h"

#include <stdlib.h>

#include "rules/bitboard.h"

// Bits, so that the outcomes of all moves can be combined with OR.
enum { KPK_IMPOSSIBLE = 0, KPK_UNKNOWN = 1, KPK_DRAWN = 2, KPK_WON = 4 };

enum { KPK_POSITIONS = 6 * 4 * 2 * 64 * 64 }; // pawn's rank and file, side, kings
static uint32_t won_bits[KPK_POSITIONS / 32];

static unsigned index_of(Color side, Square white, Square black, Square pawn) {
    unsigned place = (unsigned)((square_rank(pawn) - 1) << 2 | square_file(pawn));
    return place << 13 | (unsigned)side << 12 | (unsigned)black << 6 | white;
}

static bool is_possible(Color side, Square white, Square black, Square pawn) {
    if (white == black || white == pawn || black == pawn || attacks_king(white) & square_bb(black))
        return false;
    return side == BLACK || !(attacks_pawn(WHITE, pawn) & square_bb(black));
}

// White to move promotes, and the queen stays.
static bool promotes(Square white, Square black, Square pawn) {
    if (square_rank(pawn) != 6)
        return false;
    Bitboard goal = square_bb(pawn + 8);
    if (goal & (square_bb(white) | square_bb(black)))
        return false;
    return !(goal & attacks_king(black)) || goal & attacks_king(white);
}

// Black to move takes the pawn, or cannot move.
static bool is_drawn_at_once(Square white, Square black, Square pawn) {
    Bitboard moves = attacks_king(black) & ~attacks_king(white) & ~attacks_pawn(WHITE, pawn);
    return !moves || moves & square_bb(pawn);
}

static uint8_t first_outcome(Color side, Square white, Square black, Square pawn) {
    if (!is_possible(side, white, black, pawn))
        return KPK_IMPOSSIBLE;
    if (side == WHITE)
        return promotes(white, black, pawn) ? KPK_WON : KPK_UNKNOWN;
    return is_drawn_at_once(white, black, pawn) ? KPK_DRAWN : KPK_UNKNOWN;
}

// The outcomes of White's moves, combined.
static unsigned white_moves(const uint8_t *outcomes, Square white, Square black, Square pawn) {
    unsigned seen = 0;
    for (Bitboard b = attacks_king(white); b;)
        seen |= outcomes[index_of(BLACK, bitboard_pop(&b), black, pawn)];
    if (square_rank(pawn) == 6)
        return seen;
    Square one = (Square)(pawn + 8);
    seen |= outcomes[index_of(BLACK, white, black, one)];
    if (square_rank(pawn) == 1 && one != white && one != black)
        seen |= outcomes[index_of(BLACK, white, black, (Square)(pawn + 16))];
    return seen;
}

static unsigned black_moves(const uint8_t *outcomes, Square white, Square black, Square pawn) {
    unsigned seen = 0;
    for (Bitboard b = attacks_king(black); b;)
        seen |= outcomes[index_of(WHITE, white, bitboard_pop(&b), pawn)];
    return seen;
}

// The side to move chooses a good outcome if there is one. Otherwise the position stays unknown as
// long as one of its moves leads to an unknown position.
static uint8_t next_outcome(const uint8_t *outcomes, Color side, Square white, Square black,
                            Square pawn) {
    bool whites = side == WHITE;
    unsigned seen = whites ? white_moves(outcomes, white, black, pawn)
                           : black_moves(outcomes, white, black, pawn);
    if (seen & (whites ? KPK_WON : KPK_DRAWN))
        return whites ? KPK_WON : KPK_DRAWN;
    if (seen & KPK_UNKNOWN)
        return KPK_UNKNOWN;
    return whites ? KPK_DRAWN : KPK_WON;
}

// Classifies every position once. Returns whether anything changed.
static bool sweep(uint8_t *outcomes, bool first) {
    bool found = false;
    for (unsigned i = 0; i < KPK_POSITIONS; i++) {
        if (!first && outcomes[i] != KPK_UNKNOWN)
            continue;
        Square white = i & 63, black = i >> 6 & 63;
        Color side = (Color)(i >> 12 & 1);
        Square pawn = square_make(i >> 13 & 3, (int)(i >> 15) + 1);
        outcomes[i] = first ? first_outcome(side, white, black, pawn)
                            : next_outcome(outcomes, side, white, black, pawn);
        found |= outcomes[i] != KPK_UNKNOWN;
    }
    return found;
}

void kpk_init(void) {
    static bool done;
    if (done)
        return;
    done = true;
    uint8_t *outcomes = malloc(KPK_POSITIONS);
    if (!outcomes)
        abort();
    sweep(outcomes, true);
    while (sweep(outcomes, false))
        ;
    for (unsigned i = 0; i < KPK_POSITIONS; i++)
        won_bits[i / 32] |= (uint32_t)(outcomes[i] == KPK_WON) << i % 32;
    free(outcomes);
}

bool kpk_is_won(Color strong, Square king, Square pawn, Square their_king, Color side) {
    int turn = strong == WHITE ? 0 : 56, mirror = square_file(pawn) > 3 ? 7 : 0;
    int change = turn ^ mirror;
    unsigned i = index_of(side == strong ? WHITE : BLACK, (Square)(king ^ change),
                          (Square)(their_king ^ change), (Square)(pawn ^ change));
    return won_bits[i / 32] >> i % 32 & 1;
}
