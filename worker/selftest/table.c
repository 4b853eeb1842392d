// See table.h.
#include "worker/selftest/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/common/visible.h"

enum { NAME_WIDTH = 26 };

void selftest_begin(const SelfTest *test, const char *name) {
    if (test->terminal) {
        printf("  ..      %-*s\r", NAME_WIDTH, name);
        fflush(stdout);
    }
}

void selftest_row(SelfTest *test, RowKind kind, const char *name, const char *format, ...) {
    static const char *const marks[] = {"ok", "FAILED", ""};
    char words[512], text[1024]; // they may contain output of compilers and engines
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    visible_copy(text, sizeof text, words, strlen(words), false);
    va_end(args);
    test->rows += kind != ROW_NOTE;
    test->failed += kind == ROW_FAILED;
    printf("%s  %-6s  %-*s %s\n", test->terminal ? "\033[K" : "", marks[kind], NAME_WIDTH, name,
           text);
    fflush(stdout);
}

bool selftest_cancelled(const SelfTest *test) {
    return atomic_load(&test->worker->running.cancel);
}
