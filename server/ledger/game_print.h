// Marks of games, by which a game is known again that was copied: sent for another pair, or by
// another owner. In a timed test two games never have the same moves and the same clocks, if the
// clocks differ enough from move to move. Pure.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct GameText; // game_text.h

// Of eight games one is kept. The seed is secret, so a machine does not know which.
enum { PRINT_ONE_OF = 8, PRINTS_MAX = 64 };

typedef struct GamePrints {
    uint64_t seed;
    int count;
    struct {
        int64_t print;
        int game; // number in the batch, from 0
    } of[PRINTS_MAX];
} GamePrints;

// Adds the mark of a game, if it is one to keep: its clocks show at least eight different times of
// thinking. Further ones than PRINTS_MAX are not kept.
void game_prints_add(GamePrints *prints, int game, const char *moves, const struct GameText *text);
