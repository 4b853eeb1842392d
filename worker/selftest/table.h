// The table that a self-test prints, and what its parts share. Private to selftest/.
#pragma once

#include "worker/setup/worker.h"

typedef enum { ROW_OK, ROW_FAILED, ROW_NOTE } RowKind;

typedef struct SelfTest {
    Worker *worker;
    BuildContext context;
    bool terminal; // standard output is one
    int rows, failed;
} SelfTest;

// What is tried now, on a terminal, until its row takes its place.
void selftest_begin(const SelfTest *test, const char *name);
void selftest_row(SelfTest *test, RowKind kind, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// Whether the person at the terminal wants no more.
bool selftest_cancelled(const SelfTest *test);
