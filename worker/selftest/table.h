// The table that the self-test prints, and the data that its parts share. Private to selftest/.
#pragma once

#include "worker/setup/worker.h"

typedef enum { ROW_OK, ROW_FAILED, ROW_NOTE } RowKind;

typedef struct SelfTest {
    Worker *worker;
    BuildContext context;
    bool terminal; // standard output is one
    int rows, failed;
} SelfTest;

// On a terminal: shows the name of the running test, until its row replaces it.
void selftest_begin(const SelfTest *test, const char *name);
void selftest_row(SelfTest *test, RowKind kind, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// True after Ctrl-C or another signal that stops the worker.
bool selftest_cancelled(const SelfTest *test);
