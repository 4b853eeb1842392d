// Writes the end of a game into its record: the result, the kind of end, and a reason in the words
// that other match runners use.
#pragma once

#include "server/common/adjudicate.h"
#include "worker/match/match_spec.h"

extern const char *const color_name[COLOR_NB]; // "White", "Black"

// The player, 0 or 1, who has `side`.
static inline int player_of(const GameRecord *record, Color side) {
    return side == WHITE ? record->white : 1 - record->white;
}

void end_aborted(GameRecord *record);
// The game has no end after all the plies that it may have.
void end_open(GameRecord *record, int plies);
void end_by_rule(GameRecord *record, GameEnd end);
// What the rules of adjudication make of the last move, which was that of `mover`.
Decision decide(Adjudicator *adjudicator, const GameRecord *record, Color mover, int32_t score);
void end_by_decision(GameRecord *record, Decision decision, Color mover);
// The engine with `side` is at fault. The reason is the name of the colour and `what`: "White
// disconnects". `excess`: the limit that the engine exceeded, from os_limit_exceeded(), or NULL.
void end_by_fault(GameRecord *record, Color side, GameEndKind kind, const char *what,
                  const char *excess);
// The time of `side` is over. It loses, or draws if no series of legal moves lets the other side
// mate (FIDE Laws 6.9; cutechess does the same, fastchess counts a loss).
void end_by_flag(GameRecord *record, Color side, const char *excess);
