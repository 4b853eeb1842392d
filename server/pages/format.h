// How the values of documents read on pages. Documents hold raw numbers; a template names the form
// of each number beside its name ({{stats.llr|fixed2}}). The forms are one table in format.c, the
// only place where digits are chosen.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "server/common/str.h"

// A MustacheFormat. `form` NULL: a number as JSON has it, a real with ten digits at most. A string
// is shown as it is whatever the form ("short" cuts it), null is an en dash.
void format_value(const char *form, const json_t *value, Str *out);
bool format_is_known(const char *form);

void format_ago(double seconds, Str *out);      // "3 min ago", "in 2 h"
void format_duration(double seconds, Str *out); // "2 h 05 min"
// `decimals` digits after the point, thousands apart, a true minus; with `sign` also a plus.
void format_number(double value, int decimals, bool sign, Str *out);
