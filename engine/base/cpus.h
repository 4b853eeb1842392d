// How many threads to start on this machine.
#pragma once

#include <sched.h>
#include <unistd.h>

// The number of CPUs that this process may use, at most `most`.
static inline int cpus_usable(int most) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = CPU_COUNT(&set);
#endif
    return count < 1 ? 1 : count > most ? most : (int)count;
}
