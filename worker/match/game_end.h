// How a game ends, as its record says: result, kind, and a reason in the words of other runners.
#pragma once

#include "worker/match/adjudicate.h"
#include "worker/match/match_spec.h"

extern const char *const color_name[COLOR_NB]; // "White", "Black"

// Which of the two players has `side`.
static inline int player_of(const GameRecord *record, Color side) {
    return side == WHITE ? record->white : 1 - record->white;
}

void end_aborted(GameRecord *record);
void end_by_rule(GameRecord *record, GameEnd end);
void end_by_decision(GameRecord *record, Decision decision, Color mover);
// The engine playing `side` is to blame: "White disconnects" is color_name and `what`. `excess`:
// which limit it passed, as os_limit_exceeded says it, or NULL.
void end_by_fault(GameRecord *record, Color side, GameEndKind kind, const char *what,
                  const char *excess);
// The flag of `side` fell: a loss, or a draw where the other side could not mate by any series of
// moves (FIDE 6.9; cutechess has the same, fastchess calls it a loss).
void end_by_flag(GameRecord *record, Color side, const char *excess);
