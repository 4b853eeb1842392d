// The queue of merges (merge.h). Each row of the table `merges` that is open waits, or has a trial;
// one row of each engine is at work. A thread of its own prepares the first row that waits: it
// merges the trees and writes the objects. The turn of each second takes what is prepared, and ends
// the rows whose trials have ended: the branch moves in that turn. All that is known stands in the
// database, so a server that was killed goes on where it was.
#pragma once

#include "server/common/error.h"
#include "server/db/turn.h"

typedef struct MergeQueue MergeQueue;

MergeQueue *merge_queue_start(const char *data, Error *err);
void merge_queue_stop(MergeQueue *queue); // also frees; NULL is fine
// Once a second, in the turn.
void merge_queue_tick(void *queue, Turn *turn);
