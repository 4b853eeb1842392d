// A book of openings: the lines of an EPD file, each checked when the book is loaded.
#pragma once

#include "rules/position.h"

enum { EPD_BOOK_BYTES_MAX = 1 << 28 };

typedef struct EpdBook {
    char *text;   // the bytes of the file; each line ends with NUL
    char **lines; // pointers into `text`: the lines that hold a position
    size_t count; // at least 1
    bool chess960;
    char sha256[65]; // of the file, hexadecimal
} EpdBook;

// On false, `err` has the reason and the line, and the book is empty.
bool epd_book_load(EpdBook *book, const char *path, bool chess960, Refusal *err)
    __attribute__((warn_unused_result));
void epd_book_release(EpdBook *book); // safe on a zeroed book

// The position of line `index`, below `count`.
void epd_book_position(const EpdBook *book, size_t index, Position *pos);
