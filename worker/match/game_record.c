// See game_record.h.
#include "worker/match/game_record.h"

#include <stdlib.h>
#include <string.h>

int record_mover(const GameRecord *record, int ply) {
    bool white = (record->game.start.side == WHITE) == (ply % 2 == 0);
    return record->players[white ? record->white : 1 - record->white];
}

void record_clocks(const GameRecord *record, const EngineSpec *engines, int64_t *left_us) {
    int64_t left[2]; // of the side that moves first after the opening, and of the other side
    int moved[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        const MatchLimit *limit =
            &engines[record_mover(record, record->opening_plies + side)].limit;
        left[side] = (limit->base_ms + limit->increment_ms) * 1000;
    }
    for (int ply = record->opening_plies; ply < record->game.plies; ply++) {
        int side = (ply - record->opening_plies) % 2;
        const MatchLimit *limit = &engines[record_mover(record, ply)].limit;
        left[side] -= record->moves[ply].time_us;
        if (left[side] < 0 && !limit->owed)
            left[side] = 0;
        left[side] += limit->increment_ms * 1000;
        if (limit->moves_to_go && ++moved[side] % limit->moves_to_go == 0)
            left[side] += limit->base_ms * 1000;
        bool has_clock = limit->base_ms || limit->increment_ms;
        left_us[ply] = !has_clock ? -1 : left[side] > 0 ? left[side] : 0;
    }
}

// The opponent may have lost while it thought about one more move.
int64_t record_rest_us(const GameRecord *record, int player) {
    int plies = record->game.plies - record->opening_plies;
    int64_t free_us = (int64_t)(plies + 2) / 2 * REST_FREE_US;
    return record->rest_us[player] > free_us ? record->rest_us[player] - free_us : 0;
}

int record_ponderer(const GameRecord *record) {
    int64_t thought_us[2] = {0, 0}, greatest_us = 0;
    int ponderer = -1;
    for (int ply = record->opening_plies; ply < record->game.plies; ply++) {
        bool white = (record->game.start.side == WHITE) == (ply % 2 == 0);
        thought_us[white ? record->white : 1 - record->white] += record->moves[ply].time_us;
    }
    for (int player = 0; player < 2; player++) {
        int64_t allowed_us = thought_us[1 - player] * PONDER_PERCENT / 100;
        int64_t excess_us = record_rest_us(record, player) - allowed_us;
        if (excess_us > greatest_us) {
            greatest_us = excess_us;
            ponderer = player;
        }
    }
    return ponderer;
}

bool record_latency_us(const MoveRecord *move, int64_t *out) {
    *out = (int64_t)move->time_us - (int64_t)move->engine_ms * 1000;
    return move->engine_ms >= 0;
}

// The text after `word` in the info line, and the size of the rest of the line.
static const char *find_word(const GameRecord *record, int ply, const char *word, size_t *left) {
    const MoveRecord *move = &record->moves[ply];
    size_t size = strlen(word);
    if (!record->infos || !move->info_size)
        return NULL;
    const char *at = record->infos + move->info_at, *end = at + move->info_size;
    for (; (size_t)(end - at) > size + 2; at++)
        if (at[0] == ' ' && memcmp(at + 1, word, size) == 0 && at[1 + size] == ' ') {
            *left = (size_t)(end - at) - size - 2;
            return at + size + 2;
        }
    return NULL;
}

int64_t record_info_number(const GameRecord *record, int ply, const char *word) {
    char digits[20];
    size_t left, count = 0;
    const char *at = find_word(record, ply, word, &left);
    if (!at)
        return -1;
    while (count < left && count + 1 < sizeof digits && at[count] >= '0' && at[count] <= '9')
        count++;
    memcpy(digits, at, count);
    digits[count] = 0;
    return count ? strtoll(digits, NULL, 10) : -1;
}

size_t record_info_pv(const GameRecord *record, int ply, const char **pv) {
    size_t left;
    *pv = find_word(record, ply, "pv", &left);
    while (*pv && left && ((*pv)[left - 1] <= ' '))
        left--;
    return *pv ? left : 0;
}
