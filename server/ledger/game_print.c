// See game_print.h.
#include "server/ledger/game_print.h"

#include <string.h>

#include "server/common/hash.h"
#include "server/ledger/game_text.h"

enum { DIFFERENT_MIN = 8 };

// Whether a side's clock falls by so many different amounts from move to move.
static bool is_distinct(const int64_t *clocks, int count) {
    int64_t seen[DIFFERENT_MIN];
    int different = 0;
    for (int ply = 2; ply < count && different < DIFFERENT_MIN; ply++) {
        if (clocks[ply] == GAME_LIST_NULL || clocks[ply - 2] == GAME_LIST_NULL)
            return false;
        int64_t fall = clocks[ply - 2] - clocks[ply];
        int i = 0;
        while (i < different && seen[i] != fall)
            i++;
        if (i == different)
            seen[different++] = fall;
    }
    return different == DIFFERENT_MIN;
}

// Blanks between moves are the sender's to choose.
static uint64_t hash_moves(uint64_t seed, const char *moves) {
    for (moves += strspn(moves, " "); *moves; moves += strspn(moves, " ")) {
        size_t size = strcspn(moves, " ");
        seed = table_hash(seed, moves, size);
        moves += size;
    }
    return seed;
}

void game_prints_add(GamePrints *prints, int game, const char *moves, const GameText *text) {
    int count = text->counts[LIST_CLOCKS];
    const int64_t *clocks = text->values[LIST_CLOCKS];
    if (prints->count == PRINTS_MAX || count < 2 || !is_distinct(clocks, count))
        return;
    uint64_t print =
        table_hash(hash_moves(prints->seed, moves), clocks, (size_t)count * sizeof *clocks);
    if (print % PRINT_ONE_OF)
        return;
    prints->of[prints->count].print = (int64_t)print;
    prints->of[prints->count++].game = game;
}
