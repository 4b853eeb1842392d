// Keeps what a worker keeps from growing for ever: of builds and downloads (nets are downloads)
// those that were used longest ago go first. What a running task of any worker of this cache uses
// stays; identity and unsent results are never touched.
#pragma once

#include "worker/cache/store.h"

typedef struct Trim {
    int64_t bytes; // builds and downloads that are left
    int removed;   // how many went
    int64_t removed_bytes;
    int64_t free; // bytes free on the disk afterwards; -1: not known
    Error error;  // why something could not be removed; "" message: nothing was in the way
} Trim;

// Removes until at most `max_bytes` are left and `room` bytes are free on the disk, or nothing is
// left that may go. False: it did not get there.
bool trim_store(const Store *store, int64_t max_bytes, int64_t room, Trim *out);
