// The openings of a match, from a book in EPD, PGN (both may be compressed by gzip) or Polyglot's
// format. They are read and checked before the first game, so that an error can name the line and
// no game is lost.
#pragma once

#include "server/common/error.h"
#include "worker/match/match_spec.h"

typedef enum { BOOK_EPD, BOOK_PGN, BOOK_POLYGLOT } BookFormat;

typedef struct BookSpec {
    const char *file; // NULL: every game starts from the start position
    BookFormat format;
    bool random; // shuffled by `seed`, else in the order of the file; lines of a Polyglot book
                 // are always random: `seed` and the weights of the moves choose them
    uint64_t seed;
    int start; // number of the first opening in that order, from 1
    int plies; // plies of a PGN or Polyglot opening that are played; 0: all
    bool chess960;
} BookSpec;

// If there are more rounds than openings, openings are repeated: round r plays items[r % count].
typedef struct Openings {
    int count;
    Opening *items; // strings are owned
} Openings;

enum {
    BOOK_BYTES_MAX = 1 << 30,
    BOOK_PLIES_MAX = 400,    // of a line drawn from a Polyglot book
    BOOK_LINES_MAX = 1 << 16 // lines drawn from one; after them the first is repeated
};

// By the name of the file: .pgn or .bin, with or without .gz at the end; else EPD.
BookFormat book_format_of(const char *file);
// The openings of `rounds` rounds. False: `err` names the file and the line. Release in either
// case.
bool openings_load(Openings *openings, const BookSpec *spec, int rounds, Error *err);
void openings_release(Openings *openings);
