// One submission at a time a user: each reads a repository, builds trees and snapshots, and all
// that on one of the few reader threads.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// False: the user has one already, or there are too many at all. Any thread.
bool submit_turn_take(int64_t user);
void submit_turn_give(int64_t user);
