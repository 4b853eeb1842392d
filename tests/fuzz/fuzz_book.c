// Any bytes as an opening book, packed or not: refused with a reason (of a text, with a line), or
// openings that are played on from.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/rules/notation.h"
#include "server/storage/book.h"
#include "server/storage/book_read.h"
#include "server/storage/book_unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// "FEN<tab>moves": the position is one, the moves are legal.
static void check_line(char *line) {
    Position pos;
    Undo undo;
    char *tab = strchr(line, '\t'), *rest;
    if (!tab)
        abort();
    *tab = 0;
    if (!position_from_fen(&pos, line, false, &(Refusal){{0}}))
        abort();
    for (char *move = strtok_r(tab + 1, " ", &rest); move; move = strtok_r(NULL, " ", &rest)) {
        Move found = move_from_uci(&pos, move);
        if (found == MOVE_NONE)
            abort();
        position_make(&pos, found, &undo);
    }
}

static void check_text(const char *text, size_t size) {
    BookText book;
    Error err = {0};
    if (!book_read(text, size, 8, "", &book, &err)) {
        if (err.status != 422 || !strstr(err.message, "line "))
            abort();
        book_text_release(&book);
        return;
    }
    int64_t lines = 0;
    for (char *at = book.lines.data, *end; (end = strchr(at, '\n')); at = end + 1, lines++) {
        *end = 0;
        check_line(at);
    }
    if (lines != book.openings)
        abort();
    book_text_release(&book);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { UNPACKED_MAX = 1 << 20 };
    size_t text_size;
    Error err = {0};
    rules_init();
    char *text = book_unpack((const char *)data, size, UNPACKED_MAX, &text_size, &err);
    if (text)
        check_text(text, text_size);
    else if (!*err.message || (err.status != 422 && err.status != 413))
        abort();
    free(text);
    return 0;
}
