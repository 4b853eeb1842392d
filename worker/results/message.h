// What the uploader sends, one call or two each: a batch with its games, a fault report, or the final
// report on a task (failed, released).
#pragma once

#include "worker/api/api.h"
#include "worker/match/time_scale.h"
#include "worker/results/batch.h"
#include "worker/results/spool.h"

// A batch as the match gave it; compressing it takes time that a slot does not have.
typedef struct PlayedBatch {
    Batch batch;
    char tc[TC_TEXT_MAX];
    double speed, busy;
    BatchLoad load;
} PlayedBatch;

typedef enum { MESSAGE_BATCH, MESSAGE_FAULT_REPORT, MESSAGE_FINAL_REPORT } MessageKind;

typedef enum {
    MESSAGE_PENDING,  // a batch that is not packed yet: `played` is set
    MESSAGE_UNSTORED, // `item` is set, and is in memory only
    MESSAGE_READY,    // `item` is on disk; or it is a final report, and `body` is set
} MessageState;

typedef struct Message {
    struct Message *next;
    MessageKind kind;
    MessageState state;
    int64_t task;
    PlayedBatch *played;
    SpoolItem *item;
    char path[16]; // of a final report, below tasks/ID/
    json_t *body;
    Waiter waiter;
    double retry_s; // monotonic: not before
    bool failed;    // a try has failed
    bool offline;   // and the server did not answer then
} Message;

void message_free(Message *message);
