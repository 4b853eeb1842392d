// Stops the worker by signals or from inside, and interrupts its pauses. There is one state for the
// process, because signals belong to the process.
#pragma once

#include <stdbool.h>

typedef enum {
    STOP_NO,
    STOP_FINISH, // Ctrl-C once, SIGTERM: finish running games, return the rest
    STOP_NOW,    // Ctrl-C twice, or too long after SIGTERM
} StopLevel;

// Blocks SIGINT, SIGTERM, SIGHUP and SIGQUIT in the caller and all threads it starts later, ignores
// SIGPIPE, and starts the thread that receives them. That thread calls `on_change` after each rise
// of the level, and `every_second` about once per second.
void stop_start(void (*on_change)(StopLevel level), void (*every_second)(void));
StopLevel stop_level(void);
void stop_raise(StopLevel level);
// Sleeps; false as soon as the level is STOP_FINISH or above.
bool stop_sleep(double seconds);
// Like stop_raise(STOP_FINISH), but the exit status becomes 1: the worker cannot work here. The
// first `why` is logged.
void stop_fail(const char *why);
bool stop_failed(void);
// 0 after a normal stop, 1 after stop_fail(), 130 after an immediate stop.
int stop_exit_status(void);
