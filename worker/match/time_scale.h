// The clock of a task on this machine: the test's time control, times how much slower or faster
// this machine is than the reference. Nodes and depth are the same everywhere and are not scaled.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "server/common/time_control.h"
#include "worker/match/match_spec.h"

// As tc_parse reads it.
bool limit_parse(const char *tc, MatchLimit *out, Error *err);
bool limit_is_scaled(const MatchLimit *limit);
// Times multiplied by `factor`, to the nearest millisecond and never to 0.
void limit_scale(MatchLimit *limit, double factor);
// As a batch reports it: "10.000+0.100". Returns `out`.
char *limit_text(const MatchLimit *limit, char out[TC_TEXT_MAX]);

typedef struct Scale {
    double reference_speed, min, max; // nodes/s of a slot; bounds of the factor
} Scale;

typedef enum { SCALE_FINE, SCALE_TOO_SLOW } ScaleVerdict;
// factor = reference / measured, held within the bounds; SCALE_TOO_SLOW where it would be above.
ScaleVerdict scale_factor(const Scale *scale, double measured_speed, double *factor);
