// The kinds of tests. A kind is one file (kind_NAME.c) and one row of TEST_KINDS. The row makes its
// constant and its row in the table (kinds.h), and the file defines `kind_NAME`. All code that
// depends on the kind of a test uses that table.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/common/str.h"
#include "sprt/sprt.h"

#define TEST_KINDS(KIND)                                                                           \
    KIND(SPRT, sprt)                                                                               \
    KIND(FIXED, fixed)

#define KIND_CONSTANT(upper, lower) KIND_##upper,
typedef enum { TEST_KINDS(KIND_CONSTANT) KIND_COUNT } TestKind;
// All names in one string, "sprt|fixed": the values that a submission may use.
#define KIND_CHOICE(upper, lower) "|" #lower
#define KIND_CHOICES (&(TEST_KINDS(KIND_CHOICE))[1])

// The values with which the results of a test are compared.
typedef struct TestRule {
    TestKind kind;
    SprtBounds bounds;
    int64_t batch_pairs, pairs_max;
} TestRule;

// A row of `tests` and values computed from it, for statistics.
typedef struct TestFacts {
    const json_t *row;
    TestRule rule;
    SprtState state;
    bool finished;
    double counts[5], pairs, wins, losses, draws, llr;
    double games_per_hour; // that its workers play now; 0: unknown
} TestFacts;

typedef struct Kind {
    const char *name, *label; // the label is for people
    bool has_bounds;          // elo0, elo1, alpha and beta mean something to it
    int64_t pairs_max;        // if the submission states no length
    // Updates the state after a batch. `ptnml` includes the batch.
    void (*update)(SprtState *state, const TestRule *rule, const int64_t ptnml[5]);
    // The result if the test ends now: "accepted", "rejected" or "completed"; NULL: it continues.
    const char *(*judge)(const SprtState *state, const TestRule *rule, int64_t pairs);
    // Adds the first lines of the text that people copy into discussions.
    void (*text)(const TestFacts *facts, Str *out);
    // The colour of a completed test: "green", "red" or "".
    const char *(*completed_color)(const TestFacts *facts);
    // Adds the members `llr`, `bounds`, `sequential` and `eta` of the statistics (API.md).
    void (*document)(const TestFacts *facts, json_t *out);
} Kind;
