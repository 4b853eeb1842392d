// What the uploader needs to know about the current task.
#pragma once

#include <stdint.h>

// The progress of the task, for each heartbeat.
typedef struct Progress {
    const char *phase; // fetch, build, bench, play
    uint64_t plies;
    int started_pairs; // pairs with at least one started game
} Progress;

typedef struct UploaderTask {
    int64_t id;
    Progress (*progress)(void *ctx);
    // Stops the play for this task. The uploader's thread calls it at most once per task.
    void (*stop)(void *ctx, const char *why);
    void *ctx;
} UploaderTask;
