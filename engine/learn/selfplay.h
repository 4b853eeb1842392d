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

// What a thread needs to play.
typedef struct Selfplay {
    const SelfplayRules *rules; // borrowed
    Search *search;             // one thread, not shared; cleared for each game
    atomic_bool *stop;          // borrowed
    Game game;
} Selfplay;

enum {
    OPENING_PLIES = 8,       // random moves of a game, or one more
    OPENING_BOOK_PLIES = 2,  // behind a line of a book, or one more
    OPENING_NODES = 1000,    // of the search that judges an opening,
    OPENING_SCORE_MAX = 400, // and drops it above this
    WIN_SCORE = 1500,        // a game is won when the score says so
    WIN_PLIES = 4,           // this often in a row,
    DRAW_SCORE = 8,          // and drawn when it is no further from 0
    DRAW_PLIES = 10,         // this often in a row
    DRAW_FROM_PLY = 80,      // after this many plies
};

// Plays game `number`. False when `stop` was set before its end: then `out` is of no use.
bool selfplay_game(Selfplay *player, uint64_t number, GameFileRecord *out)
    __attribute__((warn_unused_result));

// How games begin and when they are decided, in lines for the header of the file.
void selfplay_openings_text(const SelfplayRules *rules, char *out, size_t size);
void selfplay_ends_text(char *out, size_t size);
