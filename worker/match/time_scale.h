// Time controls in the milliseconds of the match runner. They are scaled and written by the
// functions that the server uses, too (server/common/time_control.h).
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "server/common/time_control.h"
#include "worker/match/match_spec.h"

// From a time control that tc_parse() has read.
bool limit_parse(const char *tc, MatchLimit *out, Error *err);
bool limit_is_scaled(const MatchLimit *limit);
// Multiplies the times by `factor`, to the nearest millisecond. No time becomes 0.
void limit_scale(MatchLimit *limit, double factor);
// Writes the limit as a batch reports it: "10.000+0.100". Returns `out`.
char *limit_text(const MatchLimit *limit, char out[TC_TEXT_MAX]);
