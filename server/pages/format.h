// How the numbers of documents read on pages: one table from a member's name to its form. Documents
// hold raw numbers and templates hold none, so this is the only place where digits are chosen.
#pragma once

#include <jansson.h>

#include "server/common/str.h"

// A MustacheFormat. Strings come here with a filter only. What the table does not name is written
// as JSON has it; null reads as an en dash.
void format_value(const char *name, const json_t *value, Str *out);

void format_ago(double seconds, Str *out);      // "3 min ago", "in 2 h"
void format_duration(double seconds, Str *out); // "2 h 05 min"
// `decimals` digits after the point, thousands apart, a true minus; with `sign` also a plus.
void format_number(double value, int decimals, bool sign, Str *out);
