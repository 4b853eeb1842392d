// Tests of a fixed length: all pairs are played, and the result is an estimate without a verdict.
#include "server/ledger/kind_values.h"

#include <math.h>

static void update(SprtState *state, const TestRule *rule, const int64_t ptnml[5]) {
    (void)rule;
    *state = (SprtState){0};
    for (int i = 0; i < 5; i++)
        state->pairs += (double)ptnml[i];
}

static const char *judge(const SprtState *state, const TestRule *rule, int64_t pairs) {
    (void)state;
    return pairs < rule->pairs_max ? NULL : "completed";
}

static void text(const TestFacts *facts, Str *out) {
    (void)facts;
    (void)out;
}

// Decided by the likelihood of superiority.
static const char *completed_color(const TestFacts *facts) {
    double los = elo_estimate(facts->counts, 5).los;
    return los > 0.95 ? "green" : los < 0.05 ? "red" : "";
}

static void document(const TestFacts *facts, json_t *out) {
    double left = (double)facts->rule.pairs_max - facts->pairs;
    json_object_set_new(out, "llr", json_null());
    json_object_set_new(out, "bounds", json_null());
    json_object_set_new(out, "sequential", json_null());
    json_object_set_new(out, "eta", facts->finished ? json_null() : kind_eta(facts, left, NAN));
}

extern const Kind kind_fixed;
const Kind kind_fixed = {"fixed", "fixed number of games", false,   10000, update, judge,
                         text,    completed_color,         document};
