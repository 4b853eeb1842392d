// The openings of a match, chosen from a book in EPD or PGN: read and checked before the first
// game, so that a bad line is named with its number and costs no game.
#pragma once

#include "match.h"

typedef enum { BOOK_EPD, BOOK_PGN } BookFormat;

typedef struct BookSpec {
    const char *file; // NULL: every game starts from the start position
    BookFormat format;
    bool random; // shuffled by `seed`, else in the order of the file
    uint64_t seed;
    long start; // number of the first opening in that order, from 1
    long plies; // of a PGN opening to play; 0: all
    bool chess960;
} BookSpec;

typedef struct Openings {
    int count;
    Opening *items; // strings are owned
} Openings;

enum { BOOK_BYTES_MAX = 1 << 30 };

// The openings of `count` pairs; a short book is gone through again. False: `err` names the file
// and the line. Release in either case.
bool openings_load(Openings *openings, const BookSpec *spec, int count, Error *err);
void openings_release(Openings *openings);
