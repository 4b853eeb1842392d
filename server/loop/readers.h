// The reader threads: each has a read-only database of its own and runs `prepare` handlers from one
// bounded queue, in which owners take turns (senders.h); none has more than a quarter of the
// threads. What they finish comes back through a second queue that the loop empties; an event
// descriptor tells the loop of it.
#pragma once

#include "server/loop/state.h"

enum { READERS_QUEUE_MAX = 1024 };

// `commits`: the turns committed so far, which say how new the database is that a request has read.
Readers *readers_start(const char *data, int count, int event_fd, const atomic_ulong *commits,
                       Error *err);
// What must be refused for it: NULL, or itself where the readers stop, or in a full queue another
// of the owner that has most.
RequestData *readers_push(Readers *readers, RequestData *data);
RequestList readers_take(Readers *readers); // what is finished
size_t readers_queued(Readers *readers);
// Lets the jobs that run end; what is still queued comes out by readers_take undone.
void readers_stop(Readers *readers);
void readers_free(Readers *readers);
