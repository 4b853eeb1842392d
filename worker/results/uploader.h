// The thread that talks to the server while games are played: heartbeats, batches, and the last word on
// a task. Results are spooled to disk before they are sent and leave it when they are acknowledged,
// so neither an outage nor a restart loses or doubles one.
#pragma once

#include "worker/api/api.h"
#include "worker/match/time_scale.h"
#include "worker/results/batch.h"

typedef struct Courier Courier;

// Where the task stands, asked for by each heartbeat.
typedef struct Progress {
    const char *phase; // fetch, build, bench, play
    uint64_t plies;
    int started_pairs; // pairs of which a game was started
} Progress;

typedef struct CourierTask {
    int64_t id;
    Progress (*progress)(void *ctx);
    // Play no more for this task; called at most once a task, from the courier's thread.
    void (*stop)(void *ctx, const char *why);
    void *ctx;
} CourierTask;

// Starts the thread; it sends what an earlier run left behind at once. The session is borrowed.
Courier *courier_new(Session *session);
// Waits until all that can go now has been sent or tried in vain, at most `patience_s`.
bool courier_flush(Courier *courier, double patience_s);
// Waits until all has been sent, at most `patience_s`; what is left stays on disk.
bool courier_drain(Courier *courier, double patience_s);
void courier_free(Courier *courier);

// Between courier_begin and courier_end heartbeats are sent for the task; its `stop` is not called after
// courier_end has returned.
void courier_begin(Courier *courier, const CourierTask *task);
void courier_heartbeat_soon(Courier *courier); // the phase has changed
void courier_end(Courier *courier);

// A full batch; the courier compresses, spools and sends it. Steals both.
typedef struct CourierBatch {
    Batch batch;
    char tc[TC_TEXT_MAX];
    double speed, busy;
    BatchLoad load;
} CourierBatch;
void courier_batch(Courier *courier, CourierBatch *batch);
// Fault reports (fault_report.h), sent after the batches of its task that came before it; it
// holds up none. Stolen.
void courier_fault_report(Courier *courier, SpoolItem *item);
// The last word on a task (fail, release), sent after its batches. `path` below tasks/ID/; `body`
// is stolen.
void courier_word(Courier *courier, int64_t task, const char *path, json_t *body);
// Ids of tasks with unsent batches, at most `max`. New.
json_t *courier_unsent(Courier *courier, int max);
