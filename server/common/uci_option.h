// The options that an engine has, as it lists them after "uci": lines such as
// "option name Hash type spin default 16 min 1 max 1024". A list is the text of these lines, each
// with a newline. It comes from an engine, so every line is accepted: what cannot be read permits
// every value. Names are compared without case, as in UCI.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/common/error.h"
#include "server/common/option_text.h"

enum { UCI_LIST_BYTES_MAX = 64 << 10, UCI_LIST_LINES_MAX = 1024, UCI_LIST_LINE_MAX = 4096 };

typedef enum {
    UCI_TYPE_OTHER, // not known: every value is accepted
    UCI_TYPE_CHECK,
    UCI_TYPE_SPIN,
    UCI_TYPE_COMBO,
    UCI_TYPE_BUTTON,
    UCI_TYPE_STRING,
} UciType;

typedef struct UciOption {
    char name[OPTION_NAME_MAX + 1]; // its words, with one blank between them
    UciType type;
    int64_t min, max; // of a spin; as wide as the type where the line has none
    const char *vars; // of a combo: "var a var b", part of the line
    size_t vars_size;
} UciOption;

// False: the line is no option, or its name is too long to be set.
bool uci_option_read(const char *line, size_t size, UciOption *out);

// Appends a line of the engine to the list if it is an option, as one line of clean text. False:
// the list has its greatest size already.
bool uci_list_add(Str *list, const char *line, size_t size);
// Whether a text from outside has the form of a list and its limits. Else 422 `bad_request`, field
// `options`.
bool uci_list_check(const char *list, Error *err);

// Whether an engine with this list can be set up so. False: 422 `option_missing` with the nearest
// names, or 422 `option_value` with the range or the choices. An absent Hash of 16 MiB is fine:
// that is what an engine without the option is assumed to use.
bool uci_list_fits(const char *list, const char *name, const char *value, Error *err);
// The same for what a test sets by itself: Threads if it is above 1, and UCI_Chess960.
bool uci_list_fits_game(const char *list, int threads, bool chess960, Error *err);
// The same for options as text.
bool uci_list_fits_text(const char *list, const char *options, Error *err);
