// The reader threads. Each has its own read-only database and runs `prepare` handlers from one
// bounded queue. In this queue owners take turns (senders.h), and no owner has more than a quarter
// of the threads. Finished requests go to a second queue, which the loop empties; an event
// descriptor wakes the loop.
#pragma once

#include "server/loop/state.h"

enum { READERS_QUEUE_MAX = 1024 };

// `commits`: the number of turns committed so far. It says how new the database is that a request
// has read.
Readers *readers_start(const char *data, int count, int event_fd, const atomic_ulong *commits,
                       Error *err);
// Returns the request that must be refused for it. NULL: none. The request itself if the readers
// are stopping. If the queue is full: a request of the owner with the most queued requests.
RequestData *readers_push(Readers *readers, RequestData *data);
RequestList readers_take(Readers *readers); // the finished requests
size_t readers_queued(Readers *readers);
// Lets the running jobs end. Queued requests are then returned by readers_take() without a result.
void readers_stop(Readers *readers);
void readers_free(Readers *readers);
