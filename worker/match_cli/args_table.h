// Inside match_args: rows that say what an option or a key takes, where it goes and how it is
// bounded, and what reads a value by its row. Private to match_cli.
#pragma once

#include "worker/match_cli/args_values.h"

typedef enum {
    ARG_FLAG, // stands alone: true
    ARG_BOOL, // true or false
    ARG_INT,  // int
    ARG_REAL, // double
    ARG_TEXT, // const char *, not empty
    ARG_CALL, // `read` does it
    ARG_MAYBE // as ARG_CALL, and the value may be missing (NULL)
} ArgKind;

// `base` is what `offset` counts from: a MatchArgs, or an EngineArgs for the keys of an engine.
typedef struct Arg {
    const char *name, *wants;
    ArgKind kind;
    size_t offset;
    double low, high; // of numbers
    bool (*read)(MatchArgs *args, void *base, const char *value);
} Arg;

#define ARG_AT(type, member) offsetof(type, member)

typedef struct Option {
    Arg arg;
    const Arg *keys;     // it takes key=value words; ends with a row without a name
    const Arg *first;    // the key that a first word without "=" is the value of; NULL: none
    bool engine;         // -engine, -each, -quick: args.c reads its words
    const char *refusal; // why there is no such thing here, as a sentence
} Option;

bool arg_read(const Arg *arg, MatchArgs *args, void *base, const char *value);
// The row of the key whose name are the first `size` bytes of `word`.
const Arg *arg_find(const Arg *rows, const char *word, size_t size);
// Reads "key=value" by `rows`; names option, word and key in `err`.
bool arg_read_word(const Arg *rows, MatchArgs *args, void *base, const char *option,
                   const char *word, Error *err);
// The one of `count` names most like `word`, NULL where none is close.
const char *nearest_name(const char *word, const char *const *names, int count);

// Takes over a malloc'ed string for as long as `args` lives.
char *match_args_own(MatchArgs *args, char *text);
// "<option> <value>: <why>"; returns false.
bool match_args_refuse(Error *err, const char *option, const char *value, const char *why);
bool match_args_int(const char *text, long low, long high, int *out);
// "10", "0.5": `unit_ms` each, up to a week.
bool match_args_ms(const char *text, size_t size, double unit_ms, int64_t *out);

// One argument for the engine's program; false when there are too many.
bool engine_args_add(MatchArgs *args, EngineArgs *engine, const char *word);
// value NULL: a button.
bool engine_args_option(EngineArgs *engine, const char *name, const char *value);
