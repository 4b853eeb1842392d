// FEN: whatever is read can be played on, and is written as something that reads back the same.

#include <stdlib.h>
#include <string.h>

#include "engine/rules/movegen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_read_back(const Position *pos) {
    char text[FEN_MAX];
    Position again;
    if (!position_from_fen(&again, position_to_fen(pos, text), pos->chess960, NULL) ||
        again.key != pos->key || again.rule50 != pos->rule50 || again.fullmove != pos->fullmove)
        abort();
}

static void check_playable(Position *pos) {
    MoveList list;
    Position before = *pos;
    movegen_legal(pos, &list);
    if (list.size > MOVES_MAX)
        abort();
    for (int i = 0; i < list.size; i++) {
        Undo undo;
        position_make(pos, list.moves[i], &undo);
        perft(pos, 1);
        position_unmake(pos, list.moves[i], &undo);
    }
    if (memcmp(pos, &before, sizeof before) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[FEN_MAX + 2];
    Position pos;
    Refusal err;
    rules_init();
    if (size == 0 || size - 1 >= sizeof text)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (position_from_fen(&pos, text, data[0] & 1, &err)) {
        check_read_back(&pos);
        check_playable(&pos);
    }
    return 0;
}
