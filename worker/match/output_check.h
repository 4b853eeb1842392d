// Checks what an engine said last about a move against the position and the move. Only what is
// certainly wrong counts. So these are sound: no principal variation at all; one that ends before
// the mate that it announces, or goes on after a draw; a bound, whose variation may begin with
// another move; a word behind the variation that is no move.
#pragma once

#include "engine/rules/position.h"
#include "server/common/said.h"
#include "worker/uci/engine_process.h"

// What an engine said about a move.
typedef struct MoveOutput {
    const char *line; // the last info line that tells its principal variation or score; borrowed
    size_t size;      // 0: there is none
    bool exact;       // the score of that line is no bound
    bool has_score;   // a line had a score
    bool has_depth;
} MoveOutput;

// What the engine said in its last search.
MoveOutput output_of(const EngineProcess *engine);
// SAID_KINDS: nothing is wrong. `pos` stands before `played`.
SaidKind output_check(const Position *pos, const MoveOutput *output, Move played);
// Checks the output, and counts it.
void output_count(const Position *pos, const MoveOutput *output, Move played, Said *said);
