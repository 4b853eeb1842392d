// `engine magics`: searches the multipliers that map each blocker set of a slider to its attacks,
// and prints them as engine/rules/magics.h. Plain trial of sparse random numbers; each square gets
// the first that fits a table of two to the power of its mask's squares.

#include "commands/magics.h"

#include <inttypes.h>
#include <string.h>

#include "commands/commands.h"

enum { SUBSETS_MAX = 4096 };

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

// Whether `number` sends no two blocker sets with different attacks to one entry.
static bool magic_fits(const Subsets *sets, Trial *trial, uint64_t number) {
    trial->stamp++;
    for (int i = 0; i < sets->count; i++) {
        size_t index = sets->blockers[i] * number >> (64 - sets->bits);
        if (trial->stamps[index] == trial->stamp && trial->entries[index] != sets->attacks[i])
            return false;
        trial->stamps[index] = trial->stamp;
        trial->entries[index] = sets->attacks[i];
    }
    return true;
}

uint64_t magic_search(PieceType type, Square s) {
    static _Thread_local Subsets sets;
    static _Thread_local Trial trial;
    subsets_init(&sets, type, s);
    memset(&trial, 0, sizeof trial);
    uint64_t state = (uint64_t)type << 8 | s, number;
    do
        number = random_next(&state) & random_next(&state) & random_next(&state);
    while (!magic_fits(&sets, &trial, number));
    return number;
}

static void print_table(FILE *out, PieceType type, const char *name) {
    fprintf(out, "\nstatic const uint64_t %s[64] = {\n", name);
    for (Square s = 0; s < SQUARE_NB; s++)
        fprintf(out, "%s0x%016" PRIx64 ",%s", s % 4 ? " " : "    ", magic_search(type, s),
                s % 4 == 3 ? "\n" : "");
    fprintf(out, "};\n");
}

void magic_print(FILE *out) {
    fprintf(out,
            "// Magic numbers for rooks and bishops, a1 to h8. Printed by `engine magics`, which "
            "found them;\n// not edited by hand. Included by bitboard.c alone.\n#pragma once\n\n"
            "#include <stdint.h>\n");
    print_table(out, ROOK, "magics_rook");
    print_table(out, BISHOP, "magics_bishop");
}

const char MAGICS_USAGE[] = "usage: magics > engine/rules/magics.h\n";

int command_magics(int argc, char **argv) {
    (void)argv;
    if (argc > 0)
        return COMMAND_MISUSED;
    magic_print(stdout);
    return 0;
}
