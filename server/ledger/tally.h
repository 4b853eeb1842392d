// The results of a test, added up batch by batch in the order of their arrival. Counting a batch,
// counting a test again after an exclusion, and the audit all use tally_add(). So the same log
// always has the same result.
#pragma once

#include <stdint.h>

#include "server/common/error.h"
#include "server/db/db.h"
#include "server/ledger/kind.h"

typedef struct Tally {
    int64_t ptnml[5], wins, losses, draws, crashes, time_losses;
    SprtState sprt;
} Tally;

// The results of one batch: an outcome ('0' to '4') for each pair, and numbers of games.
typedef struct BatchCounts {
    const char *outcomes;
    int64_t wins, losses, draws, crashes, time_losses;
} BatchCounts;

void tally_add(Tally *tally, const TestRule *rule, const BatchCounts *batch);
int64_t tally_pairs(const Tally *tally);
// Writes the results as the totals of the test.
bool tally_store(const Tally *tally, Db *db, int64_t test, Error *err);
// Whether two stored numbers are equal. A number that is not known (NAN) equals only another one.
bool numbers_equal(double a, double b);
