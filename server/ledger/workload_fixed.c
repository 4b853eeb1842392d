// Tests of a fixed length: all pairs are played, and the result is an estimate without a verdict.
#include <math.h>
#include <string.h>

#include "server/ledger/pairs.h"
#include "sprt/sprt.h"

static const WorkloadField fixed_fields[] = {{.rule = {.name = NULL}}};

static bool fixed_agree(const json_t *fields, Error *err) {
    (void)fields;
    (void)err;
    return true;
}

static json_t *fixed_told(const WorkloadTest *test, const json_t *state, int64_t first_unit,
                          int64_t units) {
    (void)test;
    (void)state;
    (void)first_unit;
    (void)units;
    return pairs_told();
}

static bool fixed_check(const WorkloadDealt *dealt, const json_t *result, Error *err) {
    return pairs_check(dealt, result, err);
}

static void fixed_accept(const WorkloadTest *test, const WorkloadBatch *batch, json_t *state) {
    (void)test;
    Pairs pairs = pairs_read(state);
    pairs_add(&pairs, batch);
    pairs_write(&pairs, state);
}

static void fixed_subtract(const WorkloadTest *test, const json_t *part, json_t *state) {
    (void)test;
    pairs_subtract(part, state);
}

static const char *fixed_judge(const WorkloadTest *test, const json_t *state, int64_t units) {
    (void)state;
    return units < test->units_max ? NULL : "completed";
}

static EloEstimate estimate_of(const json_t *state) {
    Pairs pairs = pairs_read(state);
    double counts[5];
    for (int i = 0; i < 5; i++)
        counts[i] = (double)pairs.ptnml[i];
    return elo_estimate(counts, 5);
}

static json_t *fixed_points(const WorkloadTest *test, const json_t *state) {
    (void)test;
    return json_pack("{s:o}", "elo", real_or_null(estimate_of(state).elo));
}

static void fixed_terms(const WorkloadTest *test, Str *out) {
    (void)test;
    str_puts(out, "fixed");
}

static void fixed_summary(const WorkloadTest *test, const json_t *state, Str *out) {
    (void)test;
    Pairs pairs = pairs_read(state);
    EloEstimate e = estimate_of(state);
    if (pairs_count(&pairs))
        str_printf(out, "Elo %.2f ± %.2f", e.elo, e.error);
}

static double fixed_promise(const WorkloadTest *test, const json_t *state) {
    (void)test;
    (void)state;
    return 0;
}

static double fixed_false_accept(const WorkloadTest *test) {
    (void)test;
    return 0;
}

// Decided by the likelihood of superiority.
static WorkloadMeaning fixed_meaning(const WorkloadFacts *facts) {
    double los = estimate_of(facts->state).los;
    if (strcmp(facts->result, "completed") != 0)
        return MEANING_NONE;
    return los > 0.95 ? MEANING_BETTER : los < 0.05 ? MEANING_WORSE : MEANING_NONE;
}

static void fixed_document(const WorkloadFacts *facts, json_t *out) {
    Pairs pairs = pairs_read(facts->state);
    pairs_document(&pairs, "", out);
    double left = (double)(facts->test.units_max - facts->units);
    json_object_set_new(out, "eta", pairs_eta(facts, left, NAN));
}

static json_t *fixed_expected(const WorkloadTest *test, const double even[5]) {
    (void)even;
    return pairs_expected_length((double)test->units_max, false);
}

static bool fixed_ended(Turn *turn, int64_t test, const char *result, Error *err) {
    (void)turn;
    (void)test;
    (void)result;
    (void)err;
    return true;
}

WORKLOAD_DEFINE(fixed, .label = "fixed number of games", .version = 1, .unit = UNIT_PAIR,
                .units_max = 10000);
