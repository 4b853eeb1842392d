// Any bytes as a Polyglot book: refused with a reason, or walked by legal moves alone. Keys rarely
// fit a position by chance, so in a second walk every entry gets that of the position reached.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/rules/movegen.h"
#include "engine/rules/polyglot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ENTRIES_MAX = 256, PLIES_MAX = 40 };

static void set_keys(unsigned char *entries, size_t count, Key key) {
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 8; k++)
            entries[16 * i + (size_t)k] = (unsigned char)(key >> (56 - 8 * k));
}

static void walk(unsigned char *entries, size_t count, Position *pos) {
    for (int ply = 0; ply < PLIES_MAX; ply++) {
        PolyglotBook book;
        PolyglotMove moves[MOVES_MAX];
        Refusal err;
        Undo undo;
        set_keys(entries, count, polyglot_key(pos));
        if (!polyglot_open(&book, entries, 16 * count, &err))
            abort();
        int found = polyglot_moves(&book, pos, moves);
        for (int i = 0; i < found; i++)
            if (!move_is_legal(pos, moves[i].move))
                abort();
        if (!found)
            return;
        position_make(pos, moves[ply % found].move, &undo);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    PolyglotBook book;
    Refusal err;
    Position pos;
    PolyglotMove moves[MOVES_MAX];
    unsigned char entries[16 * ENTRIES_MAX];
    rules_init();
    position_from_fen(&pos, POSITION_START_FEN, false, &err);
    if (polyglot_open(&book, data, size, &err))
        polyglot_moves(&book, &pos, moves);
    else if (!err.message[0])
        abort();
    size_t count = size / 16 < ENTRIES_MAX ? size / 16 : ENTRIES_MAX;
    if (!count)
        return 0;
    memcpy(entries, data, 16 * count);
    walk(entries, count, &pos);
    return 0;
}
