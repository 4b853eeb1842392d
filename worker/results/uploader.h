// The thread that talks to the server during play: heartbeats, batches, attachments, and the
// final report on a task. Results are written to disk before they are sent and removed when they
// are acknowledged, so an outage or a restart neither loses nor repeats a result.
#pragma once

#include "worker/results/message.h"
#include "worker/results/task_progress.h"

typedef struct Uploader Uploader;

// Starts the thread. It first sends the results of an earlier run. The session is borrowed.
Uploader *uploader_new(Identity *identity);
// Waits until each message that can be sent now was sent or failed, at most `patience_s`.
bool uploader_flush(Uploader *uploader, double patience_s);
// Waits until everything is sent, at most `patience_s`. The rest stays on disk.
bool uploader_drain(Uploader *uploader, double patience_s);
void uploader_free(Uploader *uploader);

// Heartbeats for the task are sent between uploader_begin() and uploader_end(). After
// uploader_end() has returned, its `stop` is not called.
void uploader_begin(Uploader *uploader, const UploaderTask *task);
void uploader_heartbeat_soon(Uploader *uploader); // the phase has changed
void uploader_end(Uploader *uploader);

// Compresses, spools and sends a complete batch. Steals it.
void uploader_batch(Uploader *uploader, PlayedBatch *batch);
// Sends an attachment of a batch (task/attachments.h) after the earlier batches of its task. It
// delays no batch. Steals it.
void uploader_attachment(Uploader *uploader, SpoolItem *item);
// Sends the final report on a task (fail, release) after its batches. `path` is relative to
// tasks/ID/. Steals `body`.
void uploader_final_report(Uploader *uploader, int64_t task, const char *path, json_t *body);
// Ids of tasks with unsent batches, at most `max`. New.
json_t *uploader_unsent(Uploader *uploader, int max);
