// A command line that grows.
#pragma once

// It owns its strings.
typedef struct Argv {
    char **items; // NULL-terminated
    int count;
} Argv;

void argv_add(Argv *argv, const char *item);
void argv_add_all(Argv *argv, const char *const *items); // NULL-terminated
void argv_printf(Argv *argv, const char *format, ...) __attribute__((format(printf, 2, 3)));
void argv_release(Argv *argv);
