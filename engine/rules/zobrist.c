// Fills the Zobrist tables from a fixed seed.
#include "rules/zobrist.h"

ZobristTables zobrist;

// Steele, Lea and Flood's SplitMix64.
static Key random_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// The number of a set of rights is the XOR of its members' numbers, so that a change of the set is
// an XOR with two entries.
static void castling_init(uint64_t *state) {
    Key right[4];
    for (int i = 0; i < 4; i++)
        right[i] = random_next(state);
    for (int set = 0; set < 16; set++) {
        zobrist.castling[set] = 0;
        for (int i = 0; i < 4; i++)
            zobrist.castling[set] ^= set >> i & 1 ? right[i] : 0;
    }
}

void zobrist_init(void) {
    uint64_t state = UINT64_C(0x5061746368);
    for (Color c = WHITE; c <= BLACK; c++)
        for (PieceType t = PAWN; t <= KING; t++)
            for (Square s = 0; s < SQUARE_NB; s++)
                zobrist.piece[piece_make(c, t)][s] = random_next(&state);
    castling_init(&state);
    for (int file = 0; file < 8; file++)
        zobrist.en_passant[file] = random_next(&state);
    zobrist.black_to_move = random_next(&state);
}
