// See clock.h.
#include "server/common/clock.h"

#include <time.h>

static double clock_seconds(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double time_now(void) {
    return clock_seconds(CLOCK_REALTIME);
}

double time_monotonic(void) {
    return clock_seconds(CLOCK_MONOTONIC);
}
