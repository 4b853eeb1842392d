// The moves and the lists of numbers in a line of a game. They are most of its text, and a JSON
// library looks at each byte and makes a value of each number, which took five times as long as
// playing the moves. So they are read here, and the rest of the line is left to the library. Pure.
// The bytes come from outside.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/rules/game.h"

typedef enum { LIST_CLOCKS, LIST_SCORES, LIST_DEPTHS, LIST_NODES, LIST_COUNT } GameListName;

#define GAME_LIST_NULL INT64_MIN // in place of a number
enum { GAME_MOVES_TEXT_MAX = 6 * GAME_PLIES_MAX + 1 };

typedef struct GameText {
    int counts[LIST_COUNT]; // -1: there is no such list
    int64_t values[LIST_COUNT][GAME_PLIES_MAX];
    bool has_moves;
    char moves[GAME_MOVES_TEXT_MAX];
} GameText;

// Takes out of the object in `line`: of the members "clock_ms", "scores", "depths" and "nodes" the
// lists of whole numbers and nulls, at most GAME_PLIES_MAX each, and of "moves" a text of letters,
// digits and blanks. What is left of them is 0 and "": {"scores": [1, 2], "moves": "e2e4"} becomes
// {"scores": 0, "moves": ""}. Returns the new size. Whether the line is JSON is not checked, and
// members that hold something else stay as they are.
size_t game_text_take(char *line, size_t size, GameText *out);
