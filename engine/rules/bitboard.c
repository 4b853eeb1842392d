// The attack tables. Kings, knights and pawns have a table by square. Sliders use magic
// multiplication, with the numbers of magics.h, which `engine magics` printed.

#include "rules/bitboard.h"

#include "rules/magics.h"

BitboardTables bitboard_tables;

// A table has 2^n entries for each square, where n is the number of squares in the square's mask.
// These are the sums:
enum { ROOK_ENTRIES = 102400, BISHOP_ENTRIES = 5248 };
static Bitboard slider_entries[ROOK_ENTRIES + BISHOP_ENTRIES];

typedef struct SquareStep {
    int file, rank;
} SquareStep;

static const SquareStep rook_steps[4] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
static const SquareStep bishop_steps[4] = {{1, 1}, {-1, 1}, {1, -1}, {-1, -1}};

static bool on_board(int file, int rank) {
    return file >= 0 && file < 8 && rank >= 0 && rank < 8;
}

Bitboard slider_walk(PieceType type, Square s, Bitboard occupied) {
    const SquareStep *steps = type == ROOK ? rook_steps : bishop_steps;
    Bitboard attacks = 0;
    for (int i = 0; i < 4; i++) {
        int file = square_file(s) + steps[i].file, rank = square_rank(s) + steps[i].rank;
        while (on_board(file, rank)) {
            Bitboard b = square_bb(square_make(file, rank));
            attacks |= b;
            if (occupied & b)
                break;
            file += steps[i].file, rank += steps[i].rank;
        }
    }
    return attacks;
}

// A piece on the last square of a ray does not shorten the ray. So this square is not in the mask.
Bitboard slider_mask(PieceType type, Square s) {
    Bitboard ranks = (bitboard_rank(0) | bitboard_rank(7)) & ~bitboard_rank(square_rank(s));
    Bitboard files = (bitboard_file(0) | bitboard_file(7)) & ~bitboard_file(square_file(s));
    return slider_walk(type, s, 0) & ~(ranks | files);
}

static Bitboard leaper(Square s, const SquareStep *steps, int count) {
    Bitboard attacks = 0;
    for (int i = 0; i < count; i++) {
        int file = square_file(s) + steps[i].file, rank = square_rank(s) + steps[i].rank;
        if (on_board(file, rank))
            attacks |= square_bb(square_make(file, rank));
    }
    return attacks;
}

static void leapers_init(Square s) {
    static const SquareStep knight[8] = {{1, 2},   {2, 1},   {2, -1}, {1, -2},
                                         {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};
    static const SquareStep pawn[COLOR_NB][2] = {{{-1, 1}, {1, 1}}, {{-1, -1}, {1, -1}}};
    bitboard_tables.knight[s] = leaper(s, knight, 8);
    bitboard_tables.king[s] = leaper(s, rook_steps, 4) | leaper(s, bishop_steps, 4);
    bitboard_tables.pawn[WHITE][s] = leaper(s, pawn[WHITE], 2);
    bitboard_tables.pawn[BLACK][s] = leaper(s, pawn[BLACK], 2);
}

// Fills the table at `entries` and returns the address after its last entry.
static Bitboard *slider_init(SliderTable *table, PieceType type, Square s, uint64_t number,
                             Bitboard *entries) {
    Bitboard mask = slider_mask(type, s), occupied = 0;
    int bits = bitboard_count(mask);
    *table = (SliderTable){mask, number, entries, (unsigned)(64 - bits)};
    do {
        entries[occupied * number >> table->shift] = slider_walk(type, s, occupied);
        occupied = (occupied - mask) & mask; // the next subset of mask
    } while (occupied);
    return entries + (1 << bits);
}

static void lines_init(PieceType type, Square a, Bitboard rays) {
    Bitboard from_a = rays;
    while (rays) {
        Square b = bitboard_pop(&rays);
        Bitboard ends = square_bb(a) | square_bb(b);
        bitboard_tables.line[a][b] = (from_a & slider_walk(type, b, 0)) | ends;
        bitboard_tables.between[a][b] =
            slider_walk(type, a, square_bb(b)) & slider_walk(type, b, square_bb(a)) & ~ends;
    }
}

void bitboard_init(void) {
    Bitboard *entries = slider_entries;
    for (Square s = 0; s < SQUARE_NB; s++) {
        leapers_init(s);
        entries = slider_init(&bitboard_tables.rook[s], ROOK, s, magics_rook[s], entries);
        entries = slider_init(&bitboard_tables.bishop[s], BISHOP, s, magics_bishop[s], entries);
        bitboard_tables.rook_rays[s] = attacks_rook(s, 0);
        bitboard_tables.bishop_rays[s] = attacks_bishop(s, 0);
        lines_init(ROOK, s, bitboard_tables.rook_rays[s]);
        lines_init(BISHOP, s, bitboard_tables.bishop_rays[s]);
    }
}
