// What every notation of moves must do: a text names no move or a legal one, in classical chess and
// Chess960, and a move that was read is written as a text that names it again.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "engine/rules/notation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, Move (*from)(const Position *, const char *),
                       char *(*to)(const Position *, Move, char *)) {
    static const char *const fens[] = {
        "r3k2r/1P1p2P1/8/2N1pPp1/2n5/8/1p4p1/R3K2R w KQkq e6 0 1",
        "r3k2r/1P1p2P1/8/2N5/2n1Pp2/8/1p4p1/R3K2R b KQkq e3 0 1",
        "1rk2r2/8/3Q3Q/8/8/3Q4/8/1RK2R2 w FBfb - 0 1",
    };
    for (size_t i = 0; i < sizeof fens / sizeof *fens; i++) {
        Position pos;
        char written[MOVE_TEXT_MAX];
        if (!position_from_fen(&pos, fens[i], false, NULL))
            abort();
        Move move = from(&pos, text);
        if (move != MOVE_NONE &&
            (!move_is_legal(&pos, move) || from(&pos, to(&pos, move, written)) != move))
            abort();
    }
}

static inline void check_bytes(const uint8_t *data, size_t size,
                               Move (*from)(const Position *, const char *),
                               char *(*to)(const Position *, Move, char *)) {
    rules_init();
    char *text = malloc(size + 1);
    if (!text)
        return;
    memcpy(text, data, size);
    text[size] = 0;
    check_text(text, from, to);
    free(text);
}
