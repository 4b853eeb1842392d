// Numbered walks: the number of a walk chooses its random moves from the start position. So a book
// of a quarter of a million openings is a set of numbers, and these few lines make its positions.
// Nothing here may ever change: each book that was made would be another one.
#pragma once

#include <stdint.h>

#include "rules/position.h"

enum { WALK_PLIES = 8 };

// The position after WALK_PLIES random moves or one more, so that either side may be to move. False
// if no game can begin there: the walk ended in mate or stalemate, or in check. Call rules_init()
// first.
bool walk_exit(uint32_t number, Position *pos);

// The position as EPD: a FEN without counters. Returns `out`.
char *walk_epd(const Position *pos, char out[FEN_MAX]);
