// See argv.h.
#include "worker/sandbox/argv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/common/str.h"

void argv_add(Argv *argv, const char *item) {
    argv->items = xrealloc(argv->items, (size_t)(argv->count + 2) * sizeof *argv->items);
    argv->items[argv->count++] = xstrdup(item);
    argv->items[argv->count] = NULL;
}

void argv_add_all(Argv *argv, const char *const *items) {
    for (; *items; items++)
        argv_add(argv, *items);
}

void argv_printf(Argv *argv, const char *format, ...) {
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        abort();
    va_end(args);
    argv_add(argv, text);
    free(text);
}

void argv_release(Argv *argv) {
    for (int i = 0; i < argv->count; i++)
        free(argv->items[i]);
    free(argv->items);
    *argv = (Argv){0};
}
