// Which users have a submission in progress. A user has one at a time, because each reads a
// repository and builds trees and snapshots on one of the few reader threads.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { IN_PROGRESS_MAX = 64 };

// Any thread.
typedef enum {
    PROGRESS_BEGUN,
    PROGRESS_HAS_ONE, // the user has one already, or IN_PROGRESS_MAX users have one
    PROGRESS_CLOSED,
} InProgress;
InProgress in_progress_begin(int64_t user);
void in_progress_end(int64_t user);

// After true, no submission is in progress, and none begins before in_progress_open(). False: after
// `wait_s` seconds some were still in progress.
bool in_progress_close(double wait_s);
void in_progress_open(void);
