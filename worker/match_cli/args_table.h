// The rows that describe an option or a key (its kind of value, its bounds, the member that it
// sets), and the functions that read a value with such a row. Private to match_cli.
#pragma once

#include "worker/match_cli/args_values.h"

typedef enum {
    ARG_FLAG, // stands alone: true
    ARG_BOOL, // true or false
    ARG_INT,  // int
    ARG_REAL, // double
    ARG_TEXT, // const char *, not empty
    ARG_CALL, // `read` reads the value
    ARG_MAYBE // as ARG_CALL, but the value may be missing (NULL)
} ArgKind;

// `offset` counts from `base`: a MatchArgs, or an EngineArgs for the keys of an engine. `wants`
// completes the error message "… expects".
typedef struct Arg {
    const char *name, *wants;
    ArgKind kind;
    size_t offset;
    double low, high; // bounds of a number
    bool (*read)(MatchArgs *args, void *base, const char *value);
} Arg;

#define ARG_AT(type, member) offsetof(type, member)

typedef struct Option {
    Arg arg;
    const Arg *keys;     // of its key=value words; ends with a row without a name; NULL: none
    const Arg *first;    // a first word without "=" is the value of this key; NULL: none
    bool engine;         // -engine, -each, -quick: args.c reads their words
    const char *refusal; // why this program does not have the option, as a sentence; NULL: it has
} Option;

bool arg_read(const Arg *arg, MatchArgs *args, void *base, const char *value);
// The row whose name is the first `size` bytes of `word`; NULL if there is none.
const Arg *arg_find(const Arg *rows, const char *word, size_t size);
// Reads "key=value" with `rows`. On false, `err` names the option, the word and the key.
bool arg_read_word(const Arg *rows, MatchArgs *args, void *base, const char *option,
                   const char *word, Error *err);
// The name that is most similar to `word`; NULL if none is similar.
const char *nearest_name(const char *word, const char *const *names, int count);

// `args` becomes the owner of `text`, which malloc allocated. Returns `text`.
char *match_args_own(MatchArgs *args, char *text);
// Sets `err` to "OPTION VALUE: WHY" and returns false.
bool match_args_refuse(Error *err, const char *option, const char *value, const char *why);
bool match_args_int(const char *text, long low, long high, int *out);
// Reads a number such as "10" or "0.5" of units of `unit_ms` milliseconds, at most one week.
bool match_args_ms(const char *text, size_t size, double unit_ms, int64_t *out);

// Adds an argument of the engine's program. Returns false when there are too many.
bool engine_args_add(MatchArgs *args, EngineArgs *engine, const char *word);
// Adds a UCI option. `value` NULL: a button.
bool engine_args_option(EngineArgs *engine, const char *name, const char *value);
