// The state of a test's stop rule as text in the database, and its bounds from a row.
#pragma once

#include <stdbool.h>

#include "sprt/sprt.h"

// Converts the state to JSON text for tests.sprt_state and back, exactly.
enum { VERDICT_STATE_MAX = 512 };
void verdict_state_write(const SprtState *state, char out[VERDICT_STATE_MAX]);
bool verdict_state_read(const char *text, SprtState *state);

SprtBounds verdict_bounds(const char *model, double elo0, double elo1, double alpha, double beta);
