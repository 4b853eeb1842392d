// See slots.h.
#include "worker/task/slots.h"

enum { ENGINE_MIB = 64, THREAD_MIB = 8, WORKER_MIB = 64 };

int64_t slots_engine_mib(int threads, int64_t hash_mib, int64_t nets_mib) {
    return hash_mib + nets_mib + ENGINE_MIB + (int64_t)THREAD_MIB * (threads - 1);
}

int64_t slots_game_mib(const SlotDemand *demand) {
    int64_t sum = 0;
    for (int i = 0; i < 2; i++)
        sum += slots_engine_mib(demand->threads, demand->hash_mib[i], demand->nets_mib[i]);
    return sum;
}

int slots_fit(const SlotDemand *demand, int cores, int memory_mib) {
    int64_t by_memory = (memory_mib - WORKER_MIB) / slots_game_mib(demand);
    int by_cores = cores / demand->threads;
    if (by_memory < 0)
        by_memory = 0;
    return by_memory < by_cores ? (int)by_memory : by_cores;
}

int64_t slots_limit_mib(const SlotDemand *demand, int side, int memory_mib, int slots) {
    int64_t need =
        slots_engine_mib(demand->threads, demand->hash_mib[side], demand->nets_mib[side]);
    int64_t share = (memory_mib - WORKER_MIB) / slots * need / slots_game_mib(demand);
    return share > need ? share : need;
}
