// The thread that talks to the server while games are played: heartbeats, batches and the
// final report on a task. Results are spooled to disk before they are sent and leave it when they are acknowledged,
// so neither an outage nor a restart loses or doubles one.
#pragma once

#include "worker/results/message.h"
#include "worker/results/task_progress.h"

typedef struct Uploader Uploader;

// Starts the thread; it sends what an earlier run left behind at once. The session is borrowed.
Uploader *uploader_new(Identity *identity);
// Waits until all that can go now has been sent or has failed, at most `patience_s`.
bool uploader_flush(Uploader *uploader, double patience_s);
// Waits until all has been sent, at most `patience_s`; what is left stays on disk.
bool uploader_drain(Uploader *uploader, double patience_s);
void uploader_free(Uploader *uploader);

// Between uploader_begin and uploader_end heartbeats are sent for the task; its `stop` is not called after
// uploader_end has returned.
void uploader_begin(Uploader *uploader, const UploaderTask *task);
void uploader_heartbeat_soon(Uploader *uploader); // the phase has changed
void uploader_end(Uploader *uploader);

// A full batch; it is packed, spooled and sent. Steals it.
void uploader_batch(Uploader *uploader, PlayedBatch *batch);
// Fault reports (fault_report.h), sent after the batches of its task that came before it; it
// holds up none. Stolen.
void uploader_fault_report(Uploader *uploader, SpoolItem *item);
// The final report on a task (fail, release), sent after its batches. `path` below tasks/ID/; `body`
// is stolen.
void uploader_final_report(Uploader *uploader, int64_t task, const char *path, json_t *body);
// Ids of tasks with unsent batches, at most `max`. New.
json_t *uploader_unsent(Uploader *uploader, int max);
