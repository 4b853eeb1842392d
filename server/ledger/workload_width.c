// Tests that measure a difference: they stop when the 95 % interval of the Elo difference is no
// wider than ± x. sprt/width.h has the rule, and why it covers the truth often enough.
#include <math.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/ledger/pairs.h"
#include "sprt/width.h"

static const WorkloadField width_fields[] = {
    {.rule = {.name = "error",
              .kind = FIELD_DECIMAL,
              .change = CHANGE_EARLY,
              .low = WIDTH_ELO_MIN,
              .high = WIDTH_ELO_MAX,
              .fallback = "3"},
     .label = "Stop at ± Elo",
     .hint =
         "The test ends when the difference is known to this error at 95 %. Half the error takes "
         "four times as many games."},
    {.rule = {.name = "unit",
              .kind = FIELD_CHOICE,
              .change = CHANGE_EARLY,
              .fallback = "logistic",
              .choices = "logistic|normalized"},
     .label = "Unit of the error",
     .hint = "Logistic Elo is the Elo of rating lists. Normalized Elo is the difference divided by "
             "the spread of a game."},
    {.rule = {.name = NULL}}};

static bool width_agree(const json_t *fields, Error *err) {
    (void)fields;
    (void)err;
    return true;
}

static WidthRule rule_of(const WorkloadTest *test) {
    bool normalized = strcmp(member_text(test->parameters, "unit"), "normalized") == 0;
    return (WidthRule){.unit = normalized ? SPRT_NORMALIZED : SPRT_LOGISTIC,
                       .elo = member_real(test->parameters, "error")};
}

static WidthInterval interval_of(const WorkloadTest *test, const json_t *state) {
    Pairs pairs = pairs_read(state);
    WidthRule rule = rule_of(test);
    double counts[5];
    for (int i = 0; i < 5; i++)
        counts[i] = (double)pairs.ptnml[i];
    return width_interval(&rule, counts);
}

static json_t *width_told(const WorkloadTest *test, const json_t *state, int64_t first_unit,
                          int64_t units) {
    (void)test;
    (void)state;
    (void)first_unit;
    (void)units;
    return pairs_told();
}

static bool width_check(const WorkloadDealt *dealt, const json_t *result, Error *err) {
    return pairs_check(dealt, result, err);
}

static void width_accept(const WorkloadTest *test, const WorkloadBatch *batch, json_t *state) {
    (void)test;
    Pairs pairs = pairs_read(state);
    pairs_add(&pairs, batch);
    pairs_write(&pairs, state);
}

static void width_subtract(const WorkloadTest *test, const json_t *part, json_t *state) {
    (void)test;
    pairs_subtract(part, state);
}

static const char *width_judge(const WorkloadTest *test, const json_t *state, int64_t units) {
    return units >= test->units_max || interval_of(test, state).stops ? "completed" : NULL;
}

static json_t *width_points(const WorkloadTest *test, const json_t *state) {
    WidthInterval w = interval_of(test, state);
    return json_pack("{s:o, s:o}", "elo", real_or_null(w.elo), "error", real_or_null(w.half));
}

static void width_terms(const WorkloadTest *test, Str *out) {
    WidthRule rule = rule_of(test);
    str_printf(out, "± %g %s", rule.elo, rule.unit == SPRT_NORMALIZED ? "nElo" : "Elo");
}

static void width_summary(const WorkloadTest *test, const json_t *state, Str *out) {
    WidthInterval w = interval_of(test, state);
    bool normalized = rule_of(test).unit == SPRT_NORMALIZED;
    if (isfinite(w.half))
        str_printf(out, "%s %.2f ± %.2f", normalized ? "nElo" : "Elo", w.elo, w.half);
}

static double width_promise(const WorkloadTest *test, const json_t *state) {
    (void)test;
    (void)state;
    return 0;
}

static double width_false_accept(const WorkloadTest *test) {
    (void)test;
    return 0;
}

// Better or worse if the interval does not hold 0.
static WorkloadMeaning width_meaning(const WorkloadFacts *facts) {
    WidthInterval w = interval_of(&facts->test, facts->state);
    if (strcmp(facts->result, "completed") != 0)
        return MEANING_NONE;
    return w.low > 0 ? MEANING_BETTER : w.high < 0 ? MEANING_WORSE : MEANING_NONE;
}

// The error shrinks with the square root of the number of pairs.
static double pairs_left(const WorkloadFacts *facts, const WidthInterval *w) {
    enum { ENOUGH_PAIRS = 32 };
    double target = rule_of(&facts->test).elo,
           most = (double)(facts->test.units_max - facts->units);
    WidthRule rule = rule_of(&facts->test);
    double all = facts->units < ENOUGH_PAIRS || !isfinite(w->half)
                     ? width_pairs_expected(&rule, 0.5)
                     : (double)facts->units * (w->half / target) * (w->half / target);
    return fmin(fmax(all, WIDTH_PAIRS_MIN) - (double)facts->units, most);
}

static void width_document(const WorkloadFacts *facts, json_t *out) {
    Pairs pairs = pairs_read(facts->state);
    WidthInterval w = interval_of(&facts->test, facts->state);
    WidthRule rule = rule_of(&facts->test);
    bool capped = strcmp(facts->result, "completed") == 0 && !w.stops;
    pairs_document(&pairs, "", out);
    json_object_set_new(out, "width",
                        json_pack("{s:f, s:s, s:o, s:o, s:o, s:o, s:b, s:b}", "wanted", rule.elo,
                                  "unit", rule.unit == SPRT_NORMALIZED ? "normalized" : "logistic",
                                  "elo", real_or_null(w.elo), "error", real_or_null(w.half), "low",
                                  real_or_null(w.low), "high", real_or_null(w.high), "reached",
                                  w.stops, "capped", capped));
    json_object_set_new(out, "eta", pairs_eta(facts, pairs_left(facts, &w), NAN));
}

static json_t *width_expected(const WorkloadTest *test, const double even[5]) {
    WidthRule rule = rule_of(test);
    double pairs = fmin(width_pairs_expected(&rule, even[2]), (double)test->units_max);
    return pairs_expected_length(pairs, true);
}

static bool width_ended(Turn *turn, int64_t test, const char *result, Error *err) {
    (void)turn;
    (void)test;
    (void)result;
    (void)err;
    return true;
}

WORKLOAD_DEFINE(width, .label = "stop at ± Elo", .version = 1, .unit = UNIT_PAIR,
                .units_max = 400000);
