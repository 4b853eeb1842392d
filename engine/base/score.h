// Scores in centipawns, seen from the side to move. Scores beyond SCORE_MATE_LEAST are mates. This
// file holds plain values only.
#pragma once

#include <stdint.h>

enum { PLY_MAX = 128 }; // deepest ply a search reaches

typedef int Score;
enum {
    SCORE_DRAW = 0,
    SCORE_MATE = 32000,                          // minus the number of plies to the mate
    SCORE_MATE_LEAST = SCORE_MATE - 2 * PLY_MAX, // from here on a score is a mate
    SCORE_INFINITE = 32001,
    SCORE_NONE = 32002, // no score at all, as for a static evaluation in check
};

// What a search knows about a value.
typedef enum { BOUND_NONE, BOUND_UPPER, BOUND_LOWER, BOUND_EXACT } Bound;

static inline Score score_mated_in(int ply) {
    return -SCORE_MATE + ply;
}
static inline Score score_mate_in(int ply) {
    return SCORE_MATE - ply;
}
static inline int score_is_mate(Score score) {
    return score >= SCORE_MATE_LEAST || score <= -SCORE_MATE_LEAST;
}
