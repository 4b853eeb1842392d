// What the workloads that play pairs of games share: their results, their sums, and the statistics
// of both. A unit is a pair, and a result says for each pair how many half points above a lost pair
// the first side made ('0' to '4'), with the numbers of its games:
//
//     {"outcomes": "2213…", "wins", "losses", "draws", "crashes", "time_losses", "ponders",
//      "ponders_against"}
//
// The last two are the games that the first side, or the other, lost because it computed in its
// opponent's time.
#pragma once

#include "server/ledger/workload.h"

typedef struct Pairs {
    int64_t ptnml[5], wins, losses, draws, crashes, time_losses, ponders, ponders_against;
} Pairs;

// The sums in a state; all 0 in a new one.
Pairs pairs_read(const json_t *state);
void pairs_write(const Pairs *pairs, json_t *state);
void pairs_add(Pairs *pairs, const WorkloadBatch *batch);
// Takes the sums of a state away from those of another.
void pairs_subtract(const json_t *part, json_t *state);
int64_t pairs_count(const Pairs *pairs);

// For the functions of a workload.
bool pairs_check(const WorkloadDealt *dealt, const json_t *result, Error *err);
json_t *pairs_told(void); // nothing beyond openings and conditions, which the server adds

// Adds the members that all workloads of pairs have (API.md): counts, plain and normalized Elo,
// ratios, and the text of Fishtest's form with `first_line` before it.
void pairs_document(const Pairs *pairs, const char *first_line, json_t *out);
// How long it takes, at most `pairs_left` further pairs. `pass` NAN: not known. New; null if the
// test is finished.
json_t *pairs_eta(const WorkloadFacts *facts, double pairs_left, double pass);
// What `expected` gives if the length is the same whatever the difference. New.
json_t *pairs_expected_length(double pairs, bool assumes);
// A number; null for infinity and NaN, which JSON does not have. New.
json_t *real_or_null(double value);
