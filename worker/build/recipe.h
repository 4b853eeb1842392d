// How a snapshot becomes an engine, and what can come of that. The strings belong to the document
// of the task.
#pragma once

#include <jansson.h>

enum { RECIPE_FILES_MAX = 32 };

// Nets and their like: placed in the unpacked snapshot before it is built.
typedef struct TaskFile {
    const char *blob, *path; // path: relative to the snapshot's top
} TaskFile;

typedef struct TaskFiles {
    TaskFile items[RECIPE_FILES_MAX];
    int count;
} TaskFiles;

// How a snapshot becomes an engine.
typedef struct TaskBuild {
    const char *directory, *command, *binary; // relative to the top; binary to the directory
    json_t *env;                              // object of strings
    const char *bench_args[16];               // NULL-terminated
    TaskFiles files;
} TaskBuild;

typedef enum {
    BUILD_DONE,
    BUILD_FAILED, // the patch's fault, as far as one machine can tell: err and log say why
    BUILD_BROKEN, // this machine's fault
    BUILD_CANCELLED,
} BuildOutcome;
