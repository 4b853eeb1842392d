// Time management: how long to think. The plan leaves out the time that the overhead may take,
// keeps a reserve, and does not let the clock approach zero when only the increment is left.
#include "search/timer.h"

#include <time.h>

enum { MOVES_AHEAD = 32 }; // the number of moves that the rest of the game is expected to have

int64_t clock_now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

void timer_set_unlimited(Timer *timer, int64_t start_us) {
    timer->start_us = start_us;
    timer->soft_us = timer->hard_us = INT64_MAX;
    timer->is_limited = timer->is_fixed = false;
}

void timer_set_move_time(Timer *timer, int64_t start_us, int64_t move_us, int64_t overhead_us) {
    timer->start_us = start_us;
    timer->hard_us = timer->soft_us = most(move_us - overhead_us, move_us / 2);
    timer->is_limited = timer->is_fixed = true;
}

void timer_set_clock(Timer *timer, int64_t start_us, const ClockState *clock) {
    // With less time than the overhead left we may lose on time in any case: move very fast.
    int64_t usable = most(clock->time_us - clock->overhead_us, clock->time_us / 16);
    int moves = clock->moves_to_go > 0 ? clock->moves_to_go : MOVES_AHEAD;
    moves = moves < MOVES_AHEAD ? moves : MOVES_AHEAD;
    int64_t soft = usable / moves + clock->increment_us * 3 / 4;
    int64_t share = moves == 1 ? usable * 9 / 10 : usable / 3;
    timer->start_us = start_us;
    timer->hard_us = most(least(soft * 4, share), 1);
    timer->soft_us = most(least(soft * 7 / 10, timer->hard_us), 1);
    timer->is_limited = true;
    timer->is_fixed = false;
}

int64_t timer_elapsed_us(const Timer *timer) {
    return clock_now_us() - timer->start_us;
}

bool timer_is_over(const Timer *timer) {
    return timer->is_limited && timer_elapsed_us(timer) >= timer->hard_us;
}

// If nearly all nodes went into one move, the other moves are much worse and less time is needed
// ("node time management", Koivisto).
static int effort_percent(int effort) {
    return 190 - effort * 13 / 100;
}

bool timer_allows_iteration(const Timer *timer, int stability, int drop, int effort) {
    if (!timer->is_limited || timer->is_fixed)
        return !timer_is_over(timer);
    // A stable best move needs less time, a falling score more.
    int percent = stability >= 6 ? 65 : 130 - 10 * stability;
    percent += drop > 60 ? 60 : drop > 0 ? drop : 0;
    percent = percent * effort_percent(effort) / 100;
    return timer_elapsed_us(timer) < timer->soft_us / 100 * percent;
}
