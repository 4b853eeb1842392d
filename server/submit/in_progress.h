// Which users have a submission in progress. A user has one at a time, because each reads a repository and builds
// trees and snapshots on one of the few reader threads.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// False: the user has one already, or IN_PROGRESS_MAX users have one. Any thread.
enum { IN_PROGRESS_MAX = 64 };
bool in_progress_begin(int64_t user);
void in_progress_end(int64_t user);
