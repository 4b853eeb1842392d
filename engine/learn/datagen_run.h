// A run of self-play on several threads: the distribution of games over the threads, the order in
// which games reach the disk, and the end of a run.
#pragma once

#include "learn/selfplay.h"
#include "nnue/nnue.h"

typedef struct DatagenPlan {
    const char *folder;
    uint64_t games; // games that the folder has at the end
    int threads;
    size_t hash_mb;     // of each thread
    const Network *net; // NULL: the classical evaluation
    SelfplayRules rules;
    GameFileHeader header;
} DatagenPlan;

typedef enum {
    DATAGEN_DONE,        // the folder has all games
    DATAGEN_INTERRUPTED, // by SIGINT or SIGTERM; the same plan continues the run
    DATAGEN_FAILED,      // `err` says why
} DatagenEnd;

// Plays the missing games in the foreground and shows the progress on stderr. It handles SIGINT and
// SIGTERM from then on. The bytes that it writes depend only on the plan's header, rules, hash size
// and net.
DatagenEnd datagen_run(const DatagenPlan *plan, Refusal *err);
