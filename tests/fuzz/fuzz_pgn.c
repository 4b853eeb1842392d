// PGN: every file is read to its end in bounded steps, and a game that was read is written as one
// that reads the same.

#include <stdlib.h>
#include <string.h>

#include "engine/rules/pgn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static PgnGame game, again;

static const char *comment_on(int ply, void *context) {
    (void)context;
    return ply % 3 ? "a comment } with {" : NULL;
}

static void check_read_back(void) {
    static char text[1 << 17];
    PgnReader reader;
    char fen[FEN_MAX];
    size_t length = 0;
    position_to_fen(&game.game.start, fen);
    if (game.game.start.chess960)
        length += pgn_write_tag("Variant", "Chess960", text, sizeof text);
    length += pgn_write_tag("FEN", fen, text + length, sizeof text - length);
    length += pgn_write_moves(&game.game, game.result, comment_on, NULL, text + length,
                              sizeof text - length);
    if (length >= sizeof text)
        abort();
    pgn_reader_init(&reader, text, length);
    if (pgn_read(&reader, &again, NULL) != PGN_GAME || again.result != game.result ||
        again.game.plies != game.game.plies || again.game.now.key != game.game.now.key)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    PgnReader reader;
    PgnStatus status;
    Refusal err;
    size_t before = 0;
    rules_init();
    pgn_reader_init(&reader, (const char *)data, size);
    while ((status = pgn_read(&reader, &game, &err)) != PGN_END) {
        if (reader.offset <= before || reader.offset > size)
            abort();
        before = reader.offset;
        if (status == PGN_GAME)
            check_read_back();
    }
    return 0;
}
