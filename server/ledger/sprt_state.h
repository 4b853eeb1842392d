// What the counts of a test mean: the stop rule's state from batch to batch, and the statistics of
// a test as one JSON document for pages and API. Pure: no database, no clock.
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "server/common/error.h"
#include "server/common/str.h"
#include "sprt/sprt.h"

// The state as JSON text for tests.sprt_state and back, exact to the last bit.
enum { VERDICT_STATE_MAX = 512 };
void verdict_state_write(const SprtState *state, char out[VERDICT_STATE_MAX]);
bool verdict_state_read(const char *text, SprtState *state);

SprtBounds verdict_bounds(const char *model, double elo0, double elo1, double alpha, double beta);

// After a batch: `counts` are the totals with it. A test of fixed length gets no verdict and no
// LLR.
void verdict_update(SprtState *state, const SprtBounds *bounds, bool sprt, int batch_pairs,
                    const int64_t counts[5]);

// The statistics of a test. `test` is a row of `tests` (SELECT *). `games_per_hour`: what its
// workers make now, 0 when unknown. New. Members:
//  text: the block in Fishtest's form; color: "green", "red", "yellow", "blue" or "" (meanings
//  there) games, pairs, wins, losses, draws, ptnml [5], wdl_percent {win, draw, loss} llr, bounds
//  {lower, upper, lower_now, upper_now, elo0, elo1, model, alpha, beta, progress},
//    progress from -1 (rejected) over 0 to 1 (accepted); all null for a test of fixed length
//  sequential {elo, low, high, los}: median-unbiased, honest about the stopping; null if fixed
//  plain {elo, error, low, high, los}: as after a fixed number of games
//  nelo {nelo, error}, pair_ratio (null: none lost), draw_ratio (games), draw_ratio_pairs
//  eta {games, games_left, seconds, pass}: null once finished or when nothing can be said
json_t *verdict_document(const json_t *test, double games_per_hour);

// The text block alone; "<>" normalized, "{}" logistic. For a finished or running test.
void verdict_text(const json_t *test, Str *out);
const char *verdict_color(const json_t *test);
