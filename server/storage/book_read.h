// A book as people upload it, read into lines.
#pragma once

#include "server/common/error.h"
#include "server/common/str.h"

enum { BOOK_FILE_MAX = 256 << 20, BOOK_LINE_MAX = 4096 };

typedef struct BookText {
    Str lines;
    int64_t openings;
    bool chess960, is_pgn;
} BookText;

// Reads EPD or PGN (told by the first character that is not blank: '[' begins a PGN game) into
// lines. Of a PGN game the first `plies` half-moves are taken. False: 422 `bad_book` naming line
// and reason. `out` is released by the caller either way.
bool book_read(const char *text, size_t size, int plies, BookText *out, Error *err);
void book_text_release(BookText *book);
