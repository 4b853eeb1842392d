// The UCI options of a side as text: Hash=16 "Move Overhead"=10. Options are divided by blanks.
// What stands between double quotes keeps its blanks, wherever the quotes stand, as in a shell:
// "Move Overhead=10" is the same option. Between quotes, \" is a quote and \\ a backslash. The
// first = divides name and value. Blanks at both ends of a name and of a value do not count, and
// several blanks within a name are one, because UCI reads words.
#pragma once

#include <stdbool.h>

#include "server/common/str.h"

// Of one option. Server and worker refuse longer ones, and more of them.
enum { OPTION_NAME_MAX = 100, OPTION_VALUE_MAX = 1000, OPTION_COUNT_MAX = 256 };

// Begin with {.rest = text}.
typedef struct OptionText {
    const char *rest;
    const char *wrong; // why the text cannot be read further; NULL: it is fine so far
    char name[OPTION_NAME_MAX + 1];
    char value[OPTION_VALUE_MAX + 1];
} OptionText;

// The next option of the text. False at the end, or where `wrong` is set: then `name` holds the
// beginning of that option. An option has a name and a value, both not empty. Neither has a control
// character, and the name has no word "value", which divides name and value in UCI.
bool option_text_next(OptionText *at);
// Appends an option, after a blank if it is not the first, with quotes where they are needed.
void option_text_add(Str *out, const char *name, const char *value);
