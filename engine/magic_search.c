// `engine magics`: searches the multipliers that map each blocker set of a slider to its attacks,
// and prints them as engine/rules/magics.h. A number may map two sets to one entry when the attacks
// are equal, and no table is longer than its highest used index, so the search also makes the
// tables dense: of all numbers tried, the one with the shortest table wins.

#include "magic_search.h"

#include <inttypes.h>
#include <string.h>

enum { SUBSETS_MAX = 4096, TRIES = 400000 };

// The blocker sets of one square and the attacks that each leaves.
typedef struct Subsets {
    int count, bits;
    Bitboard mask, blockers[SUBSETS_MAX], attacks[SUBSETS_MAX];
} Subsets;

// What a trial has put where; an entry counts only if its stamp is the trial's.
typedef struct Trial {
    uint32_t stamp, stamps[SUBSETS_MAX];
    Bitboard entries[SUBSETS_MAX];
} Trial;

// Steele, Lea and Flood's SplitMix64.
static uint64_t random_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void subsets_init(Subsets *sets, PieceType type, Square s) {
    Bitboard mask = slider_mask(type, s), b = 0;
    *sets = (Subsets){.mask = mask, .bits = bitboard_count(mask)};
    do {
        sets->blockers[sets->count] = b;
        sets->attacks[sets->count++] = slider_walk(type, s, b);
        b = (b - mask) & mask;
    } while (b);
}

// The length of the table that `number` makes, or `limit` if it is not shorter or the number fails.
static unsigned magic_try(const Subsets *sets, Trial *trial, uint64_t number, unsigned shift,
                          unsigned limit) {
    unsigned size = 0;
    trial->stamp++;
    for (int i = 0; i < sets->count; i++) {
        unsigned index = (unsigned)(sets->blockers[i] * number >> shift);
        if (index + 1 >= limit)
            return limit;
        if (trial->stamps[index] == trial->stamp && trial->entries[index] != sets->attacks[i])
            return limit;
        trial->stamps[index] = trial->stamp;
        trial->entries[index] = sets->attacks[i];
        if (index >= size)
            size = index + 1;
    }
    return size;
}

MagicFound magic_search(PieceType type, Square s) {
    static _Thread_local Subsets sets;
    static _Thread_local Trial trial;
    subsets_init(&sets, type, s);
    memset(&trial, 0, sizeof trial);
    uint64_t state = (uint64_t)type << 8 | s;
    MagicFound best = {0, 0, (1U << sets.bits) + 1};
    for (int i = 0; i < TRIES || !best.number; i++) {
        uint64_t number = random_next(&state) & random_next(&state) & random_next(&state);
        // One bit less than the mask has makes half the table, where it can be had.
        unsigned shift = (unsigned)(64 - sets.bits + (i & 1));
        unsigned size = magic_try(&sets, &trial, number, shift, best.size);
        if (size < best.size)
            best = (MagicFound){number, shift, size};
    }
    return best;
}

static unsigned print_table(FILE *out, PieceType type, const char *name, unsigned offset) {
    fprintf(out, "\nstatic const MagicEntry %s[64] = {\n", name);
    for (Square s = 0; s < SQUARE_NB; s++) {
        MagicFound m = magic_search(type, s);
        fprintf(out, "    {UINT64_C(0x%016" PRIx64 "), %u, %u},\n", m.number, offset, m.shift);
        offset += m.size;
    }
    fprintf(out, "};\n");
    return offset;
}

void magic_print(FILE *out) {
    fprintf(
        out,
        "// Magic numbers for rooks and bishops, a1 to h8. Printed by `engine magics`, which found "
        "them;\n// not edited by hand. Included by bitboard.c alone.\n#pragma once\n\n"
        "#include <stdint.h>\n\n"
        "typedef struct MagicEntry {\n    uint64_t number;\n"
        "    uint32_t offset; // of the square's table in the one array of all\n"
        "    uint32_t shift;\n} MagicEntry;\n");
    unsigned size = print_table(out, ROOK, "magics_rook", 0);
    size = print_table(out, BISHOP, "magics_bishop", size);
    fprintf(out, "\nenum { MAGICS_ENTRIES = %u };\n", size);
}

int command_magics(int argc, char **argv) {
    (void)argv;
    if (argc > 0) {
        fprintf(stderr, "magics takes no arguments\n");
        return 2;
    }
    magic_print(stdout);
    return 0;
}
