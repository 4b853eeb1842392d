// Reads an uploaded book into lines. Each opening leads to a position in which a game can go on.
#pragma once

#include "server/common/error.h"
#include "server/common/str.h"

enum {
    BOOK_UPLOAD_MAX = 64 << 20, // bytes of a file that arrives
    BOOK_FILE_MAX = 256 << 20,  // of its text
    BOOK_OPENINGS_MAX = 1000000,
    BOOK_LINE_MAX = 4096,
};

typedef struct BookText {
    Str lines;
    int64_t openings;
    int64_t duplicates; // that were left out: they reach a position that an earlier one reaches
    bool chess960, is_pgn;
} BookText;

// Reads EPD or PGN into lines. A text whose first character that is not blank is '[' is PGN. Of a
// PGN game, the first `plies` half-moves are taken. `variant` is "standard", "chess960", or "" for
// either. False: 422 `bad_book` names line and reason. The caller releases `out` in both cases.
bool book_read(const char *text, size_t size, int plies, const char *variant, BookText *out,
               Error *err);
void book_text_release(BookText *book);
