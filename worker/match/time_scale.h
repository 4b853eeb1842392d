// The clock of a task on this machine: the time control of the test, multiplied by the ratio of the
// reference speed to the speed of this machine. Limits of nodes and depth are not scaled.
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

typedef struct Scale {
    double reference_speed, min, max; // nodes/s of a slot; bounds of the factor
} Scale;

typedef enum { SCALE_FINE, SCALE_TOO_SLOW } ScaleVerdict;
// factor = reference / measured, but at least `min`. SCALE_TOO_SLOW if it is above `max`.
ScaleVerdict scale_factor(const Scale *scale, double measured_speed, double *factor);
