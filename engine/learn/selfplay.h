// One game of the engine against itself, for learning. A game depends only on the settings of the
// run and on the number of the game. It does not depend on earlier games or on the thread that
// plays it.
#pragma once

#include <stdatomic.h>

#include "learn/epd_book.h"
#include "learn/gamefile.h"
#include "search/search.h"

typedef struct SelfplayRules {
    uint64_t seed;
    SearchLimits limits; // of each move
    const EpdBook *book; // NULL: none
    int book_percent;    // of the games begin from the book
    bool chess960;       // the others begin from positions of Chess960
} SelfplayRules;

// One player. Each thread has one.
typedef struct Selfplay {
    const SelfplayRules *rules; // borrowed
    Search *search;             // one thread, not shared; cleared for each game
    atomic_bool *stop;          // borrowed
    Game game;
} Selfplay;

enum {
    OPENING_PLIES = 8,       // number of random moves, or one more
    OPENING_BOOK_PLIES = 2,  // the same after a line from a book
    OPENING_NODES = 1000,    // nodes of the search that judges an opening
    OPENING_SCORE_MAX = 400, // openings with a larger score are not used
    WIN_SCORE = 1500,        // a game is won if the score is at least this
    WIN_PLIES = 4,           // this many times in a row
    DRAW_SCORE = 8,          // a game is drawn if the score is at most this
    DRAW_PLIES = 10,         // this many times in a row,
    DRAW_FROM_PLY = 80,      // after this many plies
};

// Plays game `number`. False if `stop` was set before its end; then `out` is undefined.
bool selfplay_game(Selfplay *player, uint64_t number, GameFileRecord *out)
    __attribute__((warn_unused_result));

// Descriptions of the openings and of the adjudication, as lines for the header of the file.
void selfplay_openings_text(const SelfplayRules *rules, char *out, size_t size);
void selfplay_ends_text(char *out, size_t size);
