// The time for one move. All times are microseconds of the monotonic clock.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

int64_t clock_now_us(void);

typedef struct Timer {
    _Atomic int64_t start_us; // when our clock started; changed by ponderhit
    int64_t soft_us;          // no new iteration after this time
    int64_t hard_us;          // stop the search after this time
    bool is_limited;
    bool is_fixed; // a fixed time for the move: use all of it
} Timer;

typedef struct ClockState {
    int64_t time_us, increment_us, overhead_us;
    int moves_to_go; // 0: the rest of the game
} ClockState;

void timer_set_unlimited(Timer *timer, int64_t start_us);
void timer_set_move_time(Timer *timer, int64_t start_us, int64_t move_us, int64_t overhead_us);
void timer_set_clock(Timer *timer, int64_t start_us, const ClockState *clock);
int64_t timer_elapsed_us(const Timer *timer);
bool timer_is_over(const Timer *timer);
// True if another iteration should start. `stability`: iterations in a row with the same best move.
// `drop`: the loss of score since the last iteration, in centipawns. `effort`: the share of the
// nodes that were searched below the best move, in permille.
bool timer_allows_iteration(const Timer *timer, int stability, int drop, int effort);
