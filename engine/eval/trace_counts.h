// How often each value of values.h counts in the evaluation of one position. The terms write these
// counts when trace.c expands them, and the tuner learns from them.
#pragma once

#include "base/score.h"
#include "eval/values.h"
#include "rules/position.h"

typedef struct EvalTrace {
    // The counts of each value for each colour. VALUE_DANGER: in quarters, as part of the danger of
    // this colour's king. VALUE_WINNABLE: only White's counts are used. VALUE_TEMPO has no count,
    // because `side` decides it.
    int16_t counts[COLOR_NB][EVAL_COUNT];
    int phase;           // 0, endgame, to PHASE_FULL
    int scale[COLOR_NB]; // 64ths of the endgame value, if it is in favour of the colour
    int rule50;
    Color side;
    // The endgame is known: the score is not a sum of values, and there are no counts.
    bool is_known;
    Score known; // for the side to move
} EvalTrace;
