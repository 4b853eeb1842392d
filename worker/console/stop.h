// How the worker is told to end, and sleeping that such an order interrupts. One for the process,
// because signals are.
#pragma once

#include <stdbool.h>

typedef enum {
    STOP_NO,
    STOP_FINISH, // Ctrl-C once, SIGTERM: end what runs, hand back the rest
    STOP_NOW,    // Ctrl-C twice, or SIGTERM's deadline passed
} StopLevel;

// Blocks SIGINT, SIGTERM, SIGHUP and SIGQUIT in the caller and all threads it starts later, ignores
// SIGPIPE, and starts the thread that receives them. `on_change` is called there after each rise of
// the level; `every_second` about once a second.
void stop_start(void (*on_change)(StopLevel level), void (*every_second)(void));
StopLevel stop_level(void);
void stop_raise(StopLevel level);
// Sleeps; false as soon as the level is STOP_FINISH or above.
bool stop_sleep(double seconds);
// As stop_raise(STOP_FINISH), and the program ends with status 1: there is nothing it could do
// here. `why` is logged, the first time.
void stop_fail(const char *why);
bool stop_failed(void);
// What a shell expects: 0 after an orderly end, 1 after stop_fail, 130 when cut short.
int stop_exit_status(void);
