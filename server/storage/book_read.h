// Reads an uploaded book into lines.
#pragma once

#include "server/common/error.h"
#include "server/common/str.h"

enum { BOOK_FILE_MAX = 256 << 20, BOOK_LINE_MAX = 4096 };

typedef struct BookText {
    Str lines;
    int64_t openings;
    bool chess960, is_pgn;
} BookText;

// Reads EPD or PGN into lines. A text whose first character that is not blank is '[' is PGN. Of a
// PGN game, the first `plies` half-moves are taken. False: 422 `bad_book` names line and reason.
// The caller releases `out` in both cases.
bool book_read(const char *text, size_t size, int plies, BookText *out, Error *err);
void book_text_release(BookText *book);
