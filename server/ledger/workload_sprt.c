// The sequential probability ratio test. It ends when its log-likelihood ratio reaches a bound.
// sprt/ computes the ratio.
#include <math.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/ledger/pairs.h"
#include "server/ledger/sprt_state.h"

// ---- parameters ---------------------------------------------------------------------------------

static const WorkloadField sprt_fields[] = {
    {.rule = {.name = "elo0",
              .kind = FIELD_DECIMAL,
              .change = CHANGE_EARLY,
              .low = -1000,
              .high = 1000,
              .fallback = "0"},
     .label = "Elo 0",
     .hint =
         "A patch that is worth this much or less passes in 5 of 100 tests. It is 0 for a patch "
         "that should gain, and a little less than 0 for a simplification."},
    {.rule = {.name = "elo1",
              .kind = FIELD_DECIMAL,
              .change = CHANGE_EARLY,
              .low = -1000,
              .high = 1000,
              .fallback = "2"},
     .label = "Elo 1",
     .hint =
         "A patch that is worth this much passes in 95 of 100 tests. The closer it is to Elo 0, "
         "the more games the test takes."},
    {.rule = {.name = "model",
              .kind = FIELD_CHOICE,
              .change = CHANGE_EARLY,
              .fallback = "normalized",
              .choices = "normalized|logistic"},
     .label = "Unit of the bounds",
     .hint = "With normalized Elo a test needs the same number of games for every book and clock. "
             "Logistic Elo is the Elo of rating lists."},
    {.rule = {.name = "alpha",
              .kind = FIELD_DECIMAL,
              .change = CHANGE_EARLY,
              .low = 0.0001,
              .high = 0.49,
              .fallback = "0.05"},
     .label = "α",
     .hint = "Probability of accepting a patch that is worth Elo 0.",
     .rare = true},
    {.rule = {.name = "beta",
              .kind = FIELD_DECIMAL,
              .change = CHANGE_EARLY,
              .low = 0.0001,
              .high = 0.49,
              .fallback = "0.05"},
     .label = "β",
     .hint = "Probability of rejecting a patch that is worth Elo 1.",
     .rare = true},
    {.rule = {.name = NULL}}};

static SprtBounds read_bounds(const json_t *p) {
    bool logistic = strcmp(member_text(p, "model"), "logistic") == 0;
    return (SprtBounds){.model = logistic ? SPRT_LOGISTIC : SPRT_NORMALIZED,
                        .elo0 = member_real(p, "elo0"),
                        .elo1 = member_real(p, "elo1"),
                        .alpha = member_real(p, "alpha"),
                        .beta = member_real(p, "beta")};
}

static SprtBounds bounds_of(const WorkloadTest *test) {
    return read_bounds(test->parameters);
}

static bool sprt_agree(const json_t *fields, Error *err) {
    SprtBounds bounds = read_bounds(fields);
    double elo0 = bounds.elo0, elo1 = bounds.elo1;
    if (elo1 <= elo0)
        return error_field(err, 422, "bad_field", "elo1",
                           "elo1: %g is not above elo0 (%g); the test decides between the two",
                           elo1, elo0);
    if (elo1 - elo0 < 0.01)
        return error_field(err, 422, "bad_field", "elo1",
                           "elo1: a test with bounds less than 0.01 Elo apart would never end");
    if (bounds.alpha + bounds.beta >= 1)
        return error_field(err, 422, "bad_field", "beta", "beta: alpha + beta must be below 1");
    const char *wrong = sprt_bounds_check(&bounds);
    const char *field = fabs(elo1) > fabs(elo0) ? "elo1" : "elo0";
    return !wrong || error_field(err, 422, "bad_field", field, "%s: %s", field, wrong);
}

// ---- the state: sums of pairs, and that of sprt_state.h ----------------------------------------

static json_t *sprt_told(const WorkloadTest *test, const json_t *state, int64_t first_unit,
                         int64_t units) {
    (void)test;
    (void)state;
    (void)first_unit;
    (void)units;
    return pairs_told();
}

static bool sprt_check(const WorkloadDealt *dealt, const json_t *result, Error *err) {
    return pairs_check(dealt, result, err);
}

static void sprt_accept(const WorkloadTest *test, const WorkloadBatch *batch, json_t *state) {
    Pairs pairs = pairs_read(state);
    SprtBounds bounds = bounds_of(test);
    SprtTwo two = sprt_two_read(state);
    double totals[5];
    pairs_add(&pairs, batch);
    for (int i = 0; i < 5; i++)
        totals[i] = (double)pairs.ptnml[i];
    sprt_two_add(&two, &bounds, batch, (int)test->batch_units, totals);
    pairs_write(&pairs, state);
    sprt_two_write(&two, state);
}

static void sprt_subtract(const WorkloadTest *test, const json_t *part, json_t *state) {
    SprtBounds bounds = bounds_of(test);
    pairs_subtract(part, state);
    Pairs pairs = pairs_read(state);
    sprt_two_write(&(SprtTwo){.all = sprt_of_sums(&bounds, pairs.ptnml)}, state);
    json_object_del(state, "proven");
}

static const char *sprt_judge(const WorkloadTest *test, const json_t *state, int64_t units) {
    SprtTwo two = sprt_two_read(state);
    SprtVerdict verdict = sprt_two_verdict(&two);
    return verdict == SPRT_ACCEPTED   ? "accepted"
           : verdict == SPRT_REJECTED ? "rejected"
           : units < test->units_max  ? NULL
                                      : "undecided";
}

// ---- words and numbers --------------------------------------------------------------------------

static json_t *sprt_points(const WorkloadTest *test, const json_t *state) {
    (void)test;
    return json_pack("{s:f}", "llr", sprt_two_read(state).all.llr);
}

// In the brackets that tell the unit: <normalized>, {logistic}.
static void sprt_terms(const WorkloadTest *test, Str *out) {
    SprtBounds b = bounds_of(test);
    bool logistic = b.model == SPRT_LOGISTIC;
    str_printf(out, "%c%.2f, %.2f%c", logistic ? '{' : '<', b.elo0, b.elo1, logistic ? '}' : '>');
}

// With the bounds that the LLR is compared with.
static void sprt_summary(const WorkloadTest *test, const json_t *state, Str *out) {
    SprtBounds bounds = bounds_of(test);
    SprtTwo two = sprt_two_read(state);
    str_printf(out, "LLR %.2f (%.2f, %.2f)", two.all.llr, sprt_lower_now(&two.all, &bounds),
               sprt_upper_now(&two.all, &bounds));
    if (two.apart)
        str_printf(out, ", %.2f without unproven owners%s", two.proven.llr,
                   two.decides ? ", which decides" : "");
}

// Fishtest's rule: more machines for a test whose LLR is above 2, and for one of a gainer.
static double sprt_promise(const WorkloadTest *test, const json_t *state) {
    if (sprt_two_read(state).all.llr <= 2)
        return 0;
    return bounds_of(test).elo0 > 0 ? 1 : 0.5;
}

static double sprt_false_accept(const WorkloadTest *test) {
    return bounds_of(test).alpha;
}

static WorkloadMeaning sprt_meaning(const WorkloadFacts *facts) {
    SprtBounds bounds = bounds_of(&facts->test);
    Pairs pairs = pairs_read(facts->state);
    if (strcmp(facts->result, "accepted") == 0)
        return bounds.elo0 + bounds.elo1 < 0 ? MEANING_NOT_WORSE : MEANING_BETTER;
    if (strcmp(facts->result, "rejected") == 0)
        return pairs.wins > pairs.losses ? MEANING_UNCLEAR : MEANING_WORSE;
    return strcmp(facts->result, "undecided") == 0 ? MEANING_UNDECIDED : MEANING_NONE;
}

// ---- the document -------------------------------------------------------------------------------

typedef struct Facts {
    SprtBounds bounds;
    SprtTwo two;
    SprtState state;     // of all pairs
    SprtVerdict verdict; // of the test, if it has ended by the LLR of all pairs
    double counts[5], pairs;
} Facts;

static Facts facts_of(const WorkloadFacts *facts, const Pairs *pairs) {
    Facts f = {.bounds = bounds_of(&facts->test), .two = sprt_two_read(facts->state)};
    f.state = f.two.all;
    if (!f.two.decides)
        f.verdict = strcmp(facts->result, "accepted") == 0   ? SPRT_ACCEPTED
                    : strcmp(facts->result, "rejected") == 0 ? SPRT_REJECTED
                                                             : SPRT_OPEN;
    for (int i = 0; i < 5; i++)
        f.pairs += f.counts[i] = (double)pairs->ptnml[i];
    return f;
}

static double clamp(double value, double low, double high) {
    return fmin(fmax(value, low), high);
}

// The position of the LLR between the present bounds: -1 rejected, 1 accepted.
static double progress(const Facts *f) {
    double low = sprt_lower_now(&f->state, &f->bounds),
           high = sprt_upper_now(&f->state, &f->bounds);
    if (f->state.llr < 0)
        return clamp(low < 0 ? -f->state.llr / low : -1, -1, 0);
    return clamp(high > 0 ? f->state.llr / high : 1, 0, 1);
}

// Which bounds the LLR is compared with, if the correction moved them by more than people would
// overlook: those of the verdict, or both while there is none. Appends nothing otherwise.
static void add_correction(const Facts *f, Str *out) {
    static const double notable = 0.01;
    const SprtBounds *b = &f->bounds;
    double low = sprt_lower_now(&f->state, b), high = sprt_upper_now(&f->state, b);
    bool low_moved = fabs(low - sprt_lower(b)) > notable,
         high_moved = fabs(high - sprt_upper(b)) > notable;
    if (f->verdict == SPRT_ACCEPTED && high_moved)
        str_printf(out, "Accepted above %.2f: %.2f corrected for overshoot", high, sprt_upper(b));
    else if (f->verdict == SPRT_REJECTED && low_moved)
        str_printf(out, "Rejected below %.2f: %.2f corrected for overshoot", low, sprt_lower(b));
    else if (f->verdict == SPRT_OPEN && (low_moved || high_moved))
        str_printf(out, "Bounds (%.2f,%.2f): corrected for overshoot", low, high);
}

static json_t *bounds_json(const Facts *f) {
    const SprtBounds *b = &f->bounds;
    Str note scope(str_release);
    str_init(&note, 400);
    add_correction(f, &note);
    if (note.size)
        str_puts(&note, ". The LLR moves in steps of whole batches and ends beyond a bound, not on "
                        "it. By the mean excess, which the steps of this test tell, the bounds "
                        "move inwards, so that the errors stay at α and β.");
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:f, s:s?}", "lower",
                     sprt_lower(b), "upper", sprt_upper(b), "lower_now",
                     sprt_lower_now(&f->state, b), "upper_now", sprt_upper_now(&f->state, b),
                     "elo0", b->elo0, "elo1", b->elo1, "alpha", b->alpha, "beta", b->beta, "model",
                     b->model == SPRT_LOGISTIC ? "logistic" : "normalized", "progress", progress(f),
                     "note", note.size ? note.data : NULL);
}

static json_t *sequential_json(const Facts *f) {
    if (f->pairs <= 0)
        return json_null();
    SprtEstimate e = sprt_estimate(&f->bounds, 0.05, f->counts, 5);
    return json_pack("{s:o, s:o, s:o, s:o}", "elo", real_or_null(e.elo), "low", real_or_null(e.low),
                     "high", real_or_null(e.high), "los", real_or_null(e.los));
}

static json_t *eta_json(const WorkloadFacts *facts, const Facts *f) {
    SprtForecast forecast = sprt_forecast(&f->state, &f->bounds, f->counts);
    double most = (double)(facts->test.units_max - facts->units);
    return isnan(forecast.pairs) ? json_null()
                                 : pairs_eta(facts, fmin(most, forecast.pairs), forecast.pass);
}

// What the second LLR means for the verdict.
static void proven_words(const WorkloadFacts *facts, const Facts *f, Str *out) {
    const SprtTwo *two = &f->two;
    double unproven = f->pairs - two->proven.pairs;
    str_printf(out, "Without the %.0f pairs of unproven owners the LLR is %.2f. ", unproven,
               two->proven.llr);
    if (two->decides)
        str_puts(out, "It stood beyond its bound for a tenth more pairs and the LLR of all pairs "
                      "did not follow, so it decides alone.");
    else if (sprt_two_verdict(two) != SPRT_OPEN)
        str_puts(out, "Both are beyond one bound.");
    else if (*facts->result)
        str_puts(out, "A verdict needed both beyond one bound.");
    else if (two->proven.verdict != SPRT_OPEN)
        str_printf(out,
                   "It is beyond its bound, and the verdict waits for the LLR of all pairs. If "
                   "that does not follow within %.0f more pairs, it decides alone.",
                   ceil(sprt_two_patience(two)));
    else if (two->all.verdict != SPRT_OPEN)
        str_puts(out, "The LLR of all pairs is beyond its bound, and the verdict waits for this "
                      "one.");
    else
        str_puts(out, "A verdict needs both beyond one bound.");
}

static json_t *proven_json(const WorkloadFacts *facts, const Facts *f) {
    if (!f->two.apart)
        return json_null();
    Str text scope(str_release);
    str_init(&text, 400);
    proven_words(facts, f, &text);
    return json_pack("{s:f, s:f, s:f, s:f, s:b, s:s}", "llr", f->two.proven.llr, "pairs",
                     f->two.proven.pairs, "lower_now", sprt_lower_now(&f->two.proven, &f->bounds),
                     "upper_now", sprt_upper_now(&f->two.proven, &f->bounds), "decides",
                     f->two.decides, "text", text.data);
}

static void sprt_document(const WorkloadFacts *facts, json_t *out) {
    Pairs pairs = pairs_read(facts->state);
    Facts f = facts_of(facts, &pairs);
    const SprtBounds *b = &f.bounds;
    bool logistic = b->model == SPRT_LOGISTIC;
    Str lines scope(str_release);
    str_init(&lines, 400);
    str_printf(&lines, "LLR: %.2f (%.2f,%.2f) %c%.2f,%.2f%c\n", f.state.llr, sprt_lower(b),
               sprt_upper(b), logistic ? '{' : '<', b->elo0, b->elo1, logistic ? '}' : '>');
    if (f.two.apart)
        str_printf(&lines, "LLR without unproven owners: %.2f%s\n", f.two.proven.llr,
                   f.two.decides ? ", which decides" : "");
    size_t size = lines.size;
    add_correction(&f, &lines);
    str_puts(&lines, lines.size > size ? "\n" : "");
    pairs_document(&pairs, lines.data, out);
    json_object_set_new(out, "llr", json_real(f.state.llr));
    json_object_set_new(out, "proven", proven_json(facts, &f));
    json_object_set_new(out, "bounds", bounds_json(&f));
    json_object_set_new(out, "sequential", sequential_json(&f));
    json_object_set_new(out, "eta", eta_json(facts, &f));
}

static json_t *sprt_expected(const WorkloadTest *test, const double even[5]) {
    static const double truths[] = {0, 1, 3, 5, 8};
    SprtBounds bounds = bounds_of(test);
    json_t *cases = json_array();
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        SprtPlan plan = sprt_plan(&bounds, even, truths[i], (double)test->units_max);
        json_array_append_new(cases, json_pack("{s:f, s:o, s:o, s:o, s:o}", "elo", truths[i],
                                               "accepted", real_or_null(plan.accepted), "rejected",
                                               real_or_null(plan.rejected), "undecided",
                                               real_or_null(plan.undecided), "units",
                                               real_or_null(plan.pairs)));
    }
    return json_pack("{s:s, s:b, s:o}", "unit",
                     bounds.model == SPRT_LOGISTIC ? "logistic" : "normalized", "assumes", 1,
                     "cases", cases);
}

static bool sprt_ended(Turn *turn, int64_t test, const char *result, Error *err) {
    (void)turn;
    (void)test;
    (void)result;
    (void)err;
    return true;
}

WORKLOAD_DEFINE(sprt, .label = "SPRT", .version = 1, .unit = UNIT_PAIR, .units_max = 400000);
