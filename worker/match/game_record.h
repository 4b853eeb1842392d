// What a game's record says beyond what it holds: clocks, and what engines reported in text.
#pragma once

#include "worker/match/match.h"

// The engine that made game.moves[ply].
int record_mover(const GameRecord *record, int ply);
// What the mover's clock shows once game.moves[ply] is made and its increment added, for every ply
// after the opening, into
// left_us[ply]; -1 where it had no clock. `engines` are MatchSpec's.
void record_clocks(const GameRecord *record, const EngineSpec *engines, int64_t *left_us);
// Time of the clock less what the engine says it took; false where it says nothing.
bool record_latency_us(const MoveRecord *move, int64_t *out);
// The number behind `word` in the move's info line; -1: none.
int64_t record_info_number(const GameRecord *record, int ply, const char *word);
// The moves behind "pv" in its info line: returns the size, 0 where there are none.
size_t record_info_pv(const GameRecord *record, int ply, const char **pv);
