// See game_memory.h.
#include "server/common/game_memory.h"

#include <string.h>
#include <strings.h>

#include "server/common/option_text.h"

enum { ENGINE_MIB = 64, THREAD_MIB = 8, WORKER_MIB = 64, HASH_MAX_MIB = 1 << 26 };

int64_t game_hash_after(int64_t before, const char *name, const char *value) {
    long mib;
    if (strcasecmp(name, "Hash") != 0)
        return before;
    return parse_long(value, 0, HASH_MAX_MIB, &mib) ? mib : HASH_DEFAULT_MIB;
}

int64_t game_hash_mib(const char *options) {
    int64_t hash = HASH_DEFAULT_MIB;
    OptionText at = {.rest = options};
    while (option_text_next(&at))
        hash = game_hash_after(hash, at.name, at.value);
    return hash;
}

int64_t game_engine_mib(int threads, int64_t hash_mib, int64_t nets_mib) {
    return hash_mib + nets_mib + ENGINE_MIB + (int64_t)THREAD_MIB * (threads - 1);
}

static int64_t side_mib(const GameMemory *game, int side) {
    return game->threads[side]
               ? game_engine_mib(game->threads[side], game->hash_mib[side], game->nets_mib[side])
               : 0;
}

int game_cores(const GameMemory *game) {
    return game->threads[0] > game->threads[1] ? game->threads[0] : game->threads[1];
}

int64_t game_memory_mib(const GameMemory *game) {
    return side_mib(game, 0) + side_mib(game, 1);
}

int game_slots(int64_t game_mib, int threads, int cores, int64_t memory_mib) {
    int64_t by_memory = memory_mib > WORKER_MIB ? (memory_mib - WORKER_MIB) / game_mib : 0;
    int by_cores = cores / threads;
    return by_memory < by_cores ? (int)by_memory : by_cores;
}

int64_t game_limit_mib(const GameMemory *game, int side, int64_t memory_mib, int slots) {
    int64_t need = side_mib(game, side), both = game_memory_mib(game);
    if (both < 1)
        return 0;
    int64_t share = (memory_mib - WORKER_MIB) / slots * need / both;
    return share > need ? share : need;
}
