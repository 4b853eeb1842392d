// See demand.h.
#include "worker/task/demand.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "server/common/str.h"

static int64_t hash_mib(const TaskSide *side) {
    int64_t hash = HASH_DEFAULT_MIB;
    for (int i = 0; i < side->option_count; i++)
        hash = game_hash_after(hash, side->options[i].name, side->options[i].value);
    return hash;
}

// Files that are placed before the build are nets, and every engine loads its nets.
static int64_t files_bytes(const TaskFiles *files, const Store *store) {
    int64_t bytes = 0;
    struct stat st;
    for (int i = 0; i < files->count; i++) {
        char *path scope(free_ptr) = store_blob(store, files->items[i].blob);
        bytes += stat(path, &st) == 0 ? st.st_size : 0;
    }
    return bytes;
}

GameMemory demand_of_task(const Task *task, const Store *store) {
    GameMemory demand;
    for (int i = 0; i < SIDE_COUNT; i++) {
        const TaskSide *side = &task->sides[i];
        demand.threads[i] = side->threads;
        demand.hash_mib[i] = hash_mib(side);
        demand.nets_mib[i] = files_bytes(&side->build.files, store) >> 20;
    }
    return demand;
}

int demand_slots(const GameMemory *demand, int cores, int memory_mib) {
    return game_slots(game_memory_mib(demand), game_cores(demand), cores, memory_mib);
}

bool demand_fits(const GameMemory *demand, int cores, int memory_mib, Error *err) {
    if (game_cores(demand) > cores)
        return error_set(err, 422, "too_small", "a game needs %d CPUs, %d are offered",
                         game_cores(demand), cores);
    if (demand_slots(demand, cores, memory_mib) >= 1)
        return true;
    return error_set(err, 422, "too_small",
                     "a game needs %" PRId64 " MiB of memory, %d MiB are offered",
                     game_memory_mib(demand), memory_mib);
}
