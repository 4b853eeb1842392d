// A run of self-play on several threads: the distribution of games over the threads, the order in
// which games reach the disk, and the end of a run.
#pragma once

#include "learn/selfplay.h"
#include "nnue/nnue.h"

typedef struct DatagenPlan {
    const char *folder;
    uint64_t games; // that the folder is to have in the end
    int threads;
    size_t hash_mb;     // of each thread
    const Network *net; // NULL: the classical evaluation
    SelfplayRules rules;
    GameFileHeader header;
} DatagenPlan;

typedef enum {
    DATAGEN_DONE,        // the folder has all games
    DATAGEN_INTERRUPTED, // by SIGINT or SIGTERM; the same plan goes on where it ended
    DATAGEN_FAILED,      // `err` says why
} DatagenEnd;

// Plays what is missing, in the foreground, with its progress on stderr. Takes SIGINT and SIGTERM
// for itself from then on. Its bytes depend on the plan's header, rules, hash size and net alone.
DatagenEnd datagen_run(const DatagenPlan *plan, Refusal *err);
