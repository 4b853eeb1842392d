// What the uploader sends, with one or two calls: a batch with its games, an attachment of a batch
// (a fault report, or the other end of a game that a rule had ended), or the final report on a task
// (failed, released).
#pragma once

#include "worker/api/api.h"
#include "worker/match/time_scale.h"
#include "worker/results/batch.h"
#include "worker/results/spool.h"

// A batch that is not compressed yet. The uploader compresses it, because a slot has no time for
// it.
typedef struct PlayedBatch {
    GameBatch batch;
    int64_t test;
    char tc[TC_TEXT_MAX];
    double speed, busy;
    BatchLoad load;
} PlayedBatch;

typedef enum { MESSAGE_BATCH, MESSAGE_ATTACHMENT, MESSAGE_FINAL_REPORT } MessageKind;

typedef enum {
    MESSAGE_PENDING,  // a batch that is not packed yet: `played` is set
    MESSAGE_UNSTORED, // `item` is set, and is in memory only
    MESSAGE_READY,    // `item` is on disk, or it is a final report and `body` is set
} MessageState;

typedef struct Message {
    struct Message *next;
    MessageKind kind;
    MessageState state;
    int64_t task;
    PlayedBatch *played;
    SpoolItem *item;
    char path[16]; // of a final report, relative to tasks/ID/
    json_t *body;
    Waiter waiter;
    double retry_s; // monotonic time of the next try
    bool failed;    // at least one try failed
    bool offline;   // in that try the server did not answer
} Message;

void message_free(Message *message);
