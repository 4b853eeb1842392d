// Accumulators that follow the moves of a search. A move only records what it changes. When the net
// is evaluated, the sums are updated from the nearest earlier ply that has them ("lazy updates").
// When a king moves to a square with other rows, its view starts again from a cache. For each king
// square, the cache has the view's last accumulator and the pieces of that position
// (chessprogramming wiki, "Finny tables").
#pragma once

#include <stdalign.h>

#include "base/score.h"
#include "nnue/nnue.h"

// A piece moved, appeared or disappeared. SQUARE_NONE: it was not on the board before or after.
typedef struct NetChange {
    Piece piece;
    Square from, to;
} NetChange;

enum { NET_CHANGES_MAX = 3 }; // a capture that promotes

typedef struct Accumulator {
    alignas(64) NetRow values[COLOR_NB];
    bool is_computed[COLOR_NB];
    bool is_refreshed[COLOR_NB]; // the view's king has moved to a square with other rows
    int change_count;            // changes since the accumulator below
    NetChange changes[NET_CHANGES_MAX];
} Accumulator;

// An accumulator, and the pieces whose rows it has added up.
typedef struct AccumulatorCache {
    alignas(64) NetRow values;
    Bitboard pieces[COLOR_NB][KING];
} AccumulatorCache;

typedef struct Accumulators {
    const Network *net; // borrowed
    int top;
    Accumulator stack[PLY_MAX + 2];
    AccumulatorCache cache[COLOR_NB][64]; // by row class of the king square
} Accumulators;

// New; free() it. Out of memory ends the process.
Accumulators *accumulators_new(const Network *net);
// Starts a new line. The cache is kept.
void accumulators_restart(Accumulators *accumulators);

// Call push before `move` is made in `pos`, and pop after it was taken back. Null moves need
// neither.
void accumulators_push(Accumulators *accumulators, const Position *pos, Move move);
static inline void accumulators_pop(Accumulators *accumulators) {
    accumulators->top--;
}

// Brings the accumulator of `view` up to date for `pos`, the current position. The result is
// borrowed.
const int16_t *accumulators_update(Accumulators *accumulators, const Position *pos, Color view);
// The net's raw output for `pos`.
int32_t accumulators_evaluate(Accumulators *accumulators, const Position *pos);
