// A task from the server, checked: each number is within its bounds, each path is inside its tree,
// each hash has the form of a hash. A side has all that its engine needs to be built and played;
// the sides need not be of one engine. The strings belong to the document, which the task keeps.
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "worker/build/recipe.h"
#include "worker/match/time_scale.h"

enum {
    TASK_PAIRS_MAX = 2000,
    TASK_OPTIONS_MAX = 256,
    TASK_FEN_MAX = 200,
    TASK_MOVES_MAX = 2048,
    TASK_NAME_MAX = 32, // of a side
    TASK_THREADS_MAX = 1024,
    TASK_MARGIN_MAX_MS = 250
};

// Limits of the document, from what it may hold: an opening is three values, and has its names and
// marks; all else is small.
enum {
    TASK_BYTES_MAX = TASK_PAIRS_MAX * (TASK_FEN_MAX + TASK_MOVES_MAX + 32) + (1 << 20),
    TASK_VALUES_MAX = TASK_PAIRS_MAX * 3 + 2048
};

// The sides in the order of the document. Outcomes are from the point of view of the first.
typedef enum { SIDE_NEW, SIDE_BASE, SIDE_COUNT } Side;

typedef struct TaskSide {
    const char *name; // in messages to all: 1 to TASK_NAME_MAX of a-z, 0-9, _ and -
    const char *engine;
    const char *commit, *snapshot;
    TaskBuild build; // its files include those of the side
    int64_t bench;   // 0: unknown
    const char *tc;
    MatchLimit limit; // not scaled; with the margin of the side
    int threads;
    EngineOption options[TASK_OPTIONS_MAX];
    int option_count;
    bool wants_options; // the server does not know yet which options the engine has
} TaskSide;

typedef struct Task {
    json_t *root;
    int64_t id, test_id;
    const char *engine, *title; // engine: to which the test belongs
    int first_pair, pairs, batch_pairs, next_seq;
    bool chess960;
    Adjudication adjudication;
    TaskSide sides[SIDE_COUNT];
    bool has_scale;
    ClockScale scale;
    TaskSide reference; // with a scale: its name, engine, snapshot and build. It does not play
    Opening *openings;  // `pairs` entries
    bool *play_on;      // 2 * `pairs` entries: the games that are played on if a rule ends them
} Task;

// The names of the units that this worker can play, for its claim. New.
json_t *task_units(void);
// False: the document is not a task that can be played; `err` says why. The task keeps a reference
// to `document`. The caller releases the task, only after true.
bool task_read(Task *task, json_t *document, Error *err);
void task_release(Task *task);
// The number of the task; 0 if it cannot be read.
int64_t task_id(const json_t *document);
