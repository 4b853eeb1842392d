// What the steps of evidence_check() share.
#pragma once

#include <stdio.h>

#include "server/common/adjudicate.h"
#include "server/common/time_control.h"
#include "server/ledger/count.h"
#include "server/proof/evidence.h"
#include "server/storage/book.h"

// A line of the log; texts and values are borrowed from the evidence.
typedef struct CheckedBatch {
    int64_t position; // 0: it has none, and does not count
    int64_t task, seq, first_pair, units, machine, level, thought;
    const char *owner, *key, *signature, *games, *tc, *flags; // `games` NULL: none
    const json_t *result, *told;
    double speed, reference_speed, received;
    bool possible; // the workload can count it
    bool excluded;
} CheckedBatch;

typedef struct CheckedSide {
    const char *tc;
    int64_t margin_ms;
} CheckedSide;

typedef struct Check {
    const Evidence *evidence;
    const json_t *test; // of the manifest
    const Workload *workload;
    int64_t batch_pairs;
    CheckedSide sides[2]; // new and base
    ClockScale scale;
    Adjudication rules;
    Book *book;
    CheckedBatch *batches;
    size_t count;
    FILE *out;
    const char *step;
    int64_t wrong, all_wrong; // differences of this step, of all
} Check;

// A difference: printed, if it is among the first of its step.
void check_wrong(Check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Ends a step: what was found to hold, unless there were differences.
void check_end(Check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));
// A text of the evidence for a terminal; malloc'ed.
char *check_shown(const char *text);

// The conditions and the log, read into `check`. False: they cannot be read, and `err` says what.
bool check_load(Check *check, Error *err);
void check_release(Check *check);
void check_games(Check *check);
void check_count(Check *check);
// Whose games had to be believed.
void check_print_owners(const Check *check);
