// How often each opening of a book was decisive, from the results of its pairs. It takes tenths of
// a second for a million pairs, so it is for readers, who keep what they made.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/db/db.h"

enum { RESULTS_PAIRS_MAX = 1000000 }; // of the newest tests

// The results of opening `number` of the book, in the order of its lines, from 0.
typedef struct OpeningResult {
    int64_t number, pairs, decisive; // decisive: one side made more points
} OpeningResult;

typedef struct OpeningResults {
    OpeningResult *items; // those that were played, the most often played first
    int64_t count, pairs;
    bool partial; // the oldest pairs are left out
} OpeningResults;

void opening_results(Db *db, int64_t book, int64_t openings, OpeningResults *out);
void opening_results_release(OpeningResults *results);
