// A task as the server hands it out, checked: every number within its bounds, every path inside its
// tree, every hash a hash. The strings belong to the document, which the task keeps.
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "worker/build/recipe.h"
#include "worker/match/time_scale.h"

enum { TASK_PAIRS_MAX = 20000, TASK_OPTIONS_MAX = 256 };

typedef enum { SIDE_NEW, SIDE_BASE, SIDE_COUNT } Side;
const char *side_name(Side side); // "new", "base"

typedef struct TaskSide {
    const char *commit, *snapshot;
    TaskFiles files; // beside the build's
    int64_t bench;   // 0: not known yet
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
    TaskFiles reference_files;      // beside the build's
    int margin_ms;
    Opening *openings; // `pairs` of them
} Task;

// False: the document is no task that can be played; `err` says why. `document` is borrowed and
// kept by a reference. Released by the caller on true only.
bool task_read(Task *task, json_t *document, Error *err);
void task_release(Task *task);
// How the side's snapshot is built, or with SIDE_COUNT the reference's: its own files and those of
// all builds. Borrows from the task.
TaskBuild task_recipe(const Task *task, int side);
// The task's number, 0 where even that cannot be read.
int64_t task_id(const json_t *document);
