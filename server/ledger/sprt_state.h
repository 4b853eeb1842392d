// The state of an SPRT: the sums of its pairs and the log-likelihood ratio (LLR) of all counted
// pairs. From the first pair of an unproven owner on, it has a second LLR, that of the pairs of
// proven owners. A verdict needs both beyond the same bound, so the errors against the pairs of
// proven owners stay at about alpha/(1-beta) and beta/(1-alpha), whatever the others send: their
// LLR alone is beyond a bound at some time with no greater probability (Ville's inequality). Nor
// can unproven owners keep a test open: where the proven LLR has stood beyond a bound for a tenth
// more pairs, it decides alone.
#pragma once

#include "server/ledger/workload.h"
#include "sprt/sprt.h"

typedef struct SprtTwo {
    SprtState all;
    bool apart; // unproven owners have counted pairs; if not, the members below are 0
    SprtState proven;
    double counts[5]; // of the proven pairs
    double beyond;    // how many these were when their LLR went beyond a bound; 0: it is not
    bool decides;     // the proven LLR decides alone
} SprtTwo;

// Of a test of which only the sums are known: the LLR without its history.
SprtState sprt_of_sums(const SprtBounds *bounds, const int64_t ptnml[5]);
SprtTwo sprt_two_read(const json_t *state);
void sprt_two_write(const SprtTwo *two, json_t *state);
// `counts`: the sums of all pairs, with those of the batch.
void sprt_two_add(SprtTwo *two, const SprtBounds *bounds, const WorkloadBatch *batch,
                  int batch_pairs, const double counts[5]);
SprtVerdict sprt_two_verdict(const SprtTwo *two);
// How many proven pairs are missing until the proven LLR decides alone; 0: it is not beyond a
// bound, or decides.
double sprt_two_patience(const SprtTwo *two);
