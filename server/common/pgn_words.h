// Words of PGN that the games of `match` and those of the server's archive share: how a game ended,
// and what an engine said of a move. engine/rules/pgn.h writes moves and tags.
#pragma once

#include <stdint.h>

#include "server/common/str.h"

// The endings of games, as in API.md; NULL ends the list.
extern const char *const game_endings[];

// The value of the tag Termination for an ending, "rule" among them. "unterminated": it is none.
const char *pgn_termination(const char *ending);

// Appends the score and depth with which comments of moves begin: "+0.31/14 ". A mate in n plies is
// ±(1000000 − n), written "+M5/14 ".
void pgn_add_score(Str *out, int64_t score, int64_t depth);
