// A task from the server, checked: each number is within its bounds, each path is inside its tree,
// each hash has the form of a hash. The strings belong to the document, which the task keeps.
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "worker/build/recipe.h"
#include "worker/match/time_scale.h"

enum { TASK_PAIRS_MAX = 2000, TASK_OPTIONS_MAX = 256, TASK_FEN_MAX = 200, TASK_MOVES_MAX = 2048 };

// Limits of the document, from what it may hold: an opening is three values, and has its names and
// marks; all else is small.
enum {
    TASK_BYTES_MAX = TASK_PAIRS_MAX * (TASK_FEN_MAX + TASK_MOVES_MAX + 32) + (1 << 20),
    TASK_VALUES_MAX = TASK_PAIRS_MAX * 3 + 2048
};

typedef enum { SIDE_NEW, SIDE_BASE, SIDE_COUNT } Side;
const char *side_name(Side side); // "new", "base"

typedef struct TaskSide {
    const char *commit, *snapshot;
    TaskFiles files; // in addition to those of the build
    int64_t bench;   // 0: unknown
    const char *tc;
    MatchLimit limit; // not scaled
    EngineOption options[TASK_OPTIONS_MAX];
    int option_count;
} TaskSide;

typedef struct Task {
    json_t *root;
    int64_t id, test_id;
    const char *engine, *title;
    int first_pair, pairs, batch_pairs, threads, next_seq;
    bool chess960;
    Adjudication adjudication;
    TaskSide sides[SIDE_COUNT];
    TaskBuild build;
    bool has_scale;
    Scale scale;
    const char *reference_snapshot; // NULL without scale
    TaskFiles reference_files;      // in addition to those of the build
    int margin_ms;
    Opening *openings; // `pairs` entries
} Task;

// The names of the units that this worker can play, for its claim. New.
json_t *task_units(void);
// False: the document is not a task that can be played; `err` says why. The task keeps a reference
// to `document`. The caller releases the task, only after true.
bool task_read(Task *task, json_t *document, Error *err);
void task_release(Task *task);
// How to build the snapshot of a side, or of the reference engine with SIDE_COUNT: its own files
// and those of all builds. Borrows from the task.
TaskBuild task_recipe(const Task *task, int side);
// The number of the task; 0 if it cannot be read.
int64_t task_id(const json_t *document);
