// The arithmetic of history tables. ordering.c and correction.c decide which entries are updated,
// and when.
#include "search/history.h"

#include <stdlib.h>
#include <string.h>

void history_clear(History *history) {
    memset(history, 0, sizeof *history);
}

int history_bonus(int depth) {
    int bonus = 12 * depth * depth + 60 * depth;
    return bonus < 1600 ? bonus : 1600;
}

void history_update(int16_t *value, int bonus) {
    *value = (int16_t)(*value + bonus - *value * abs(bonus) / HISTORY_MAX);
}
