// The statistics of a test as one JSON document, for pages and the API. Numbers are given raw; how
// many digits people see is decided where pages are made. Pure: no database, no clock.
#pragma once

#include <jansson.h>

#include "server/common/str.h"

// The statistics of a test. `test` is a row of `tests` (SELECT *). `games_per_hour`: what its
// workers make now, 0 when unknown. New. Members:
//  text: the block in Fishtest's form
//  color: "green", "red", "yellow", "blue" or "", with the meanings that Fishtest gives them
//  games, pairs, wins, losses, draws, ptnml [5], wdl_percent {win, draw, loss}
//  llr, bounds {lower, upper, lower_now, upper_now, elo0, elo1, model, alpha, beta, progress}:
//    progress from -1 (rejected) over 0 to 1 (accepted); all null for a test of fixed length
//  sequential {elo, low, high, los}: median-unbiased, honest about the stopping; null if fixed
//  plain {elo, error, low, high, los}: as after a fixed number of games
//  nelo {nelo, error}, pair_ratio (null: none lost), draw_ratio (games), draw_ratio_pairs
//  eta {games, games_left, seconds, pass}: null once finished or when nothing can be said
json_t *test_stats_document(const json_t *test, double games_per_hour);

// The text block alone; "<>" normalized, "{}" logistic. For a finished or running test.
void test_stats_text(const json_t *test, Str *out);
const char *test_stats_color(const json_t *test);
