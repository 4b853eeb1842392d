// The reader threads: each has a read-only database of its own and runs `prepare` handlers from one
// bounded queue. What they finish comes back through a second queue that the loop empties; the
// loop is told through App.event_fd.
#pragma once

#include "app.h"

enum { READERS_QUEUE_MAX = 512 };

Readers *readers_start(App *app, int count, Error *err);
bool readers_push(Readers *readers, RequestData *data); // false: the queue is full or closed
RequestList readers_take(Readers *readers);             // what is finished
size_t readers_queued(Readers *readers);
// Lets the jobs that run end; what is still queued comes out by readers_take undone.
void readers_stop(Readers *readers);
void readers_free(Readers *readers);
