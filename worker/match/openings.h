// The openings of a match, chosen from a book in EPD, PGN (either may be compressed by gzip) or
// Polyglot's format: read and checked before the first game, so that a bad line is named with its
// number and costs no game.
#pragma once

#include "server/common/error.h"
#include "worker/match/match_spec.h"

typedef enum { BOOK_EPD, BOOK_PGN, BOOK_POLYGLOT } BookFormat;

typedef struct BookSpec {
    const char *file; // NULL: every game starts from the start position
    BookFormat format;
    bool random; // shuffled by `seed`, else in the order of the file; a Polyglot book's lines are
                 // always drawn by `seed`, each move as often as its weight says
    uint64_t seed;
    int start; // number of the first opening in that order, from 1
    int plies; // of a PGN or Polyglot opening to play; 0: all
    bool chess960;
} BookSpec;

// Openings of many rounds come from a short book again and again: `count` are there, round r plays
// items[r % count].
typedef struct Openings {
    int count;
    Opening *items; // strings are owned
} Openings;

enum {
    BOOK_BYTES_MAX = 1 << 30,
    BOOK_PLIES_MAX = 400,    // of a line drawn from a Polyglot book
    BOOK_LINES_MAX = 1 << 16 // drawn from one; then the first comes again
};

// By the file's name: .pgn, .bin, with .gz behind or not; else EPD.
BookFormat book_format_of(const char *file);
// The openings of `rounds` rounds. False: `err` names the file and the line. Release in either
// case.
bool openings_load(Openings *openings, const BookSpec *spec, int rounds, Error *err);
void openings_release(Openings *openings);
