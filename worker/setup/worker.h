// The running worker: its options, its stored files, its identity, and its current work.
#pragma once

#include "worker/build/speed.h"
#include "worker/results/uploader.h"
#include "worker/setup/host.h"
#include "worker/setup/running.h"

typedef struct Worker {
    const Config *config;
    Store store;
    Sandbox sandbox;
    Host host;
    Identity identity;
    Api api; // of the thread that works on tasks
    Uploader *uploader;
    Running running;
    json_t *speeds;         // engine name to nodes/s of a slot
    int64_t load_logged_ns; // when the log last said that this machine is busy; 0: never
} Worker;

typedef enum {
    TASK_END_DONE,        // played to its end, or as far as the server wanted
    TASK_END_FAILED,      // reported as such
    TASK_END_BROKEN,      // the same, and it was this machine's fault
    TASK_END_HANDED_BACK, // the worker is being stopped
} TaskEnd;

// Works on one task from fetching to the last batch. `document` is the reply to the claim.
TaskEnd task_run(Worker *worker, json_t *document);
