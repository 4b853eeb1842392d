// What the uploader needs to know of the task that is being played.
#pragma once

#include <stdint.h>

// Where the task stands, asked for by each heartbeat.
typedef struct Progress {
    const char *phase; // fetch, build, bench, play
    uint64_t plies;
    int started_pairs; // pairs of which a game was started
} Progress;

typedef struct UploaderTask {
    int64_t id;
    Progress (*progress)(void *ctx);
    // Play no more for this task; called at most once a task, from the uploader's thread.
    void (*stop)(void *ctx, const char *why);
    void *ctx;
} UploaderTask;
