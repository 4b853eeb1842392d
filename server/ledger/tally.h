// The results of a test, added up batch by batch in the order of their arrival. Counting a batch,
// counting a test again after an exclusion, and the audit all go through tally_add(), so one log has
// one result.
#pragma once

#include <stdint.h>

#include "server/ledger/kind.h"

typedef struct Tally {
    int64_t ptnml[5], wins, losses, draws, crashes, time_losses;
    SprtState sprt;
} Tally;

// What a batch adds: an outcome ('0' to '4') for each pair, and games.
typedef struct BatchCounts {
    const char *outcomes;
    int64_t wins, losses, draws, crashes, time_losses;
} BatchCounts;

void tally_add(Tally *tally, const TestRule *rule, const BatchCounts *batch);
int64_t tally_pairs(const Tally *tally);
// The members that SQL_LEDGER_TEST_COUNTED writes, with the test's id. New.
json_t *tally_row(const Tally *tally, int64_t test);
// Whether two stored numbers are one and the same; true for two NANs.
bool numbers_equal(double a, double b);
