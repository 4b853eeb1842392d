// What the tests of the rules share: positions from FEN that must be right, and random play.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/rules/movegen.h"

static inline Position position_of(const char *fen) {
    Position pos;
    Refusal err;
    if (!position_from_fen(&pos, fen, false, &err))
        fail_msg("%s: %s", fen, err.message);
    return pos;
}

static inline uint64_t random_word(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

// Positions whose random play meets every rule soon.
static const char *const lively_fens[] = {
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/1pp2pp1/8/3pP3/2Pp4/8/PP3PPP/R3K2R w KQkq d6 0 1",
    "1r2k1r1/pbpppppp/8/8/8/8/PBPPPPPP/1R2K1R1 w GBgb - 0 1",
    "rk2r3/p1p1p1pp/8/8/8/8/PP1P1P1P/RK2R3 b EAea - 0 1",
    "brkrnnqb/pppppppp/8/8/8/8/PPPPPPPP/BRKRNNQB w DBdb - 0 1",
    "4k3/PP4PP/8/8/8/8/pp4pp/4K3 w - - 0 1",
    "5rkr/6p1/8/8/8/8/8/RK4R1 w GAhf - 0 1",
};
enum { LIVELY_FENS = sizeof lively_fens / sizeof *lively_fens };

// Walks `plies` random moves from each lively position and shows each position to `visit`.
static inline void random_walks(int plies, void (*visit)(Position *pos)) {
    uint64_t seed = 20240601;
    for (int i = 0; i < LIVELY_FENS; i++) {
        Position pos = position_of(lively_fens[i]);
        for (int ply = 0; ply < plies; ply++) {
            MoveList list;
            Undo undo;
            visit(&pos);
            movegen_legal(&pos, &list);
            if (list.size == 0)
                pos = position_of(lively_fens[i]);
            else
                position_make(&pos, list.moves[random_word(&seed) % (unsigned)list.size], &undo);
        }
    }
}
