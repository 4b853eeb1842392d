// The inside of the courier, shared by its two files: courier.c decides what is next,
// courier_send.c does it.
#pragma once

#include <pthread.h>

#include "worker/os/process.h"
#include "worker/results/outbox.h"

struct Courier {
    Api api;
    char *spool;
    pthread_t thread;
    atomic_bool cancel;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    Outbox outbox;
    CourierTask task;
    bool has_task, task_stopped, in_call, quit, sending;
    double next_heartbeat_s, store_s; // monotonic: when to heartbeat; when to try again to store
    Waiter heartbeats;
    bool heartbeats_offline;
    int unstored;     // items that are not on disk
    bool disk_failed; // and that was said
};

static inline double courier_now_s(void) {
    return (double)os_now_ns() / 1e9;
}

// Deeds of the courier's thread, called without the lock.
void courier_send_heartbeat(Courier *courier);
void courier_send_letter(Courier *courier, Letter *letter); // which may be gone afterwards
void courier_make_item(Courier *courier, Letter *letter);   // of a raw batch; on disk if it can be
void courier_store_item(Courier *courier, Letter *letter);  // that was not on disk
