// The root of a search: a position, and the keys of the positions before it. The search finds
// repetitions of the game's own positions by these keys.
#pragma once

#include "rules/position.h"

enum { ROOT_KEYS_MAX = 256 };

// `keys` are those of the positions since the last capture or pawn move, the oldest first. Earlier
// positions cannot be repeated.
typedef struct Root {
    Position pos;
    int key_count;
    Key keys[ROOT_KEYS_MAX];
} Root;

void root_init(Root *root, const Position *pos);
// Plays `move`, which must be legal in root->pos.
void root_play(Root *root, Move move);
