// The state of the uploader, shared by its two files: uploader.c decides what is done next,
// uploader_send.c does it.
#pragma once

#include <pthread.h>

#include "worker/os/process.h"
#include "worker/results/outbox.h"
#include "worker/results/task_progress.h"

typedef struct Uploader {
    Api api;
    char *spool;
    pthread_t thread;
    atomic_bool cancel;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    Outbox outbox;
    UploaderTask task;
    bool has_task, task_stopped, in_call, quit, sending;
    double next_heartbeat_s; // monotonic time
    double store_s;          // monotonic time of the next try to store
    Waiter heartbeats;
    bool heartbeats_offline;
    int unstored;     // items that are not on disk
    bool disk_failed; // and the log says so
} Uploader;

static inline double uploader_now_s(void) {
    return (double)os_now_ns() / 1e9;
}
