// The table that a self-test prints, and what its parts share. Private to selftest*.c.
#pragma once

#include "worker/setup/worker.h"

typedef enum { ROW_OK, ROW_FAILED, ROW_NOTE } RowKind;

typedef struct SelfTest {
    Worker *worker;
    Workshop shop;
    bool terminal; // standard output is one
    int rows, failed;
} SelfTest;

// What is tried now, on a terminal, until its row takes its place.
void selftest_begin(const SelfTest *test, const char *name);
void selftest_row(SelfTest *test, RowKind kind, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// Whether the person at the terminal wants no more.
bool selftest_cancelled(const SelfTest *test);

// ---- engines (selftest_engine.c) ----------------------------------------------------------------

// One source file beside those of a folder.
typedef struct SelfTestSource {
    const char *folder; // NULL: none; else its source, two levels deep, and the net that it names
    const char *name, *text; // added; where the folder has one of that name, it is appended to it
    const char *command, *binary;
} SelfTestSource;

// Builds by the very way a task's engines go: snapshot, sandbox, store. `log` takes the compiler's
// words.
bool selftest_build(SelfTest *test, const SelfTestSource *source, Build *out, Str *log, Error *err);
// A C program that plays knights to and fro from the start position, or misbehaves as its first
// argument says; and one that looks around in its sandbox.
extern const char selftest_toy[], selftest_probe[];

// ---- parts --------------------------------------------------------------------------------------

void selftest_confinement(SelfTest *test); // selftest_cage.c
void selftest_reach(SelfTest *test);       // selftest_reach.c
void selftest_match(SelfTest *test);       // selftest_play.c: two builds, then
void selftest_faults(SelfTest *test);      // engines that misbehave
