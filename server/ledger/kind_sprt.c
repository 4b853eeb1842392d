// The sequential probability ratio test. It ends when its log-likelihood ratio reaches a bound.
// sprt/ computes the ratio.
#include "server/ledger/kind_values.h"

#include <math.h>

static void update(SprtState *state, const TestRule *rule, const int64_t ptnml[5]) {
    double totals[5];
    SprtState next = *state;
    for (int i = 0; i < 5; i++)
        totals[i] = (double)ptnml[i];
    sprt_update(&next, &rule->bounds, (int)rule->batch_pairs, totals);
    if (isfinite(next.llr)) // else no distribution fits a hypothesis yet
        *state = next;
}

static const char *judge(const SprtState *state, const TestRule *rule, int64_t pairs) {
    return state->verdict == SPRT_ACCEPTED   ? "accepted"
           : state->verdict == SPRT_REJECTED ? "rejected"
           : pairs < rule->pairs_max         ? NULL
                                             : "completed";
}

static void text(const TestFacts *f, Str *out) {
    const SprtBounds *bounds = &f->rule.bounds;
    bool logistic = bounds->model == SPRT_LOGISTIC;
    str_printf(out, "LLR: %.2f (%.2f,%.2f) %c%.2f,%.2f%c\n", f->llr, sprt_lower(bounds),
               sprt_upper(bounds), logistic ? '{' : '<', bounds->elo0, bounds->elo1,
               logistic ? '}' : '>');
}

// A completed SPRT reached its maximum length without a verdict.
static const char *completed_color(const TestFacts *f) {
    (void)f;
    return "";
}

// ---- the document -------------------------------------------------------------------------------

static double clamp(double value, double low, double high) {
    return fmin(fmax(value, low), high);
}

// The position of the LLR between the present bounds: -1 rejected, 1 accepted.
static double progress(const TestFacts *f) {
    double low = sprt_lower_now(&f->state, &f->rule.bounds);
    double high = sprt_upper_now(&f->state, &f->rule.bounds);
    if (f->llr < 0)
        return clamp(low < 0 ? -f->llr / low : -1, -1, 0);
    return clamp(high > 0 ? f->llr / high : 1, 0, 1);
}

static json_t *bounds_json(const TestFacts *f) {
    return json_pack(
        "{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:f}", "lower", sprt_lower(&f->rule.bounds),
        "upper", sprt_upper(&f->rule.bounds), "lower_now",
        sprt_lower_now(&f->state, &f->rule.bounds), "upper_now",
        sprt_upper_now(&f->state, &f->rule.bounds), "elo0", f->rule.bounds.elo0, "elo1",
        f->rule.bounds.elo1, "alpha", f->rule.bounds.alpha, "beta", f->rule.bounds.beta, "model",
        f->rule.bounds.model == SPRT_LOGISTIC ? "logistic" : "normalized", "progress", progress(f));
}

static json_t *sequential_json(const TestFacts *f) {
    if (f->pairs <= 0)
        return json_null();
    SprtEstimate e = sprt_estimate(&f->rule.bounds, 0.05, f->counts, 5);
    return json_pack("{s:o, s:o, s:o, s:o}", "elo", kind_real(e.elo), "low", kind_real(e.low),
                     "high", kind_real(e.high), "los", kind_real(e.los));
}

static json_t *eta_json(const TestFacts *f) {
    if (f->finished)
        return json_null();
    SprtForecast forecast = sprt_forecast(&f->state, &f->rule.bounds, f->counts);
    if (isnan(forecast.pairs))
        return json_null();
    return kind_eta(f, fmin((double)f->rule.pairs_max - f->pairs, forecast.pairs), forecast.pass);
}

static void document(const TestFacts *f, json_t *out) {
    json_object_set_new(out, "llr", kind_real(f->llr));
    json_object_set_new(out, "bounds", bounds_json(f));
    json_object_set_new(out, "sequential", sequential_json(f));
    json_object_set_new(out, "eta", eta_json(f));
}

extern const Kind kind_sprt;
const Kind kind_sprt = {"sprt", "SPRT",          true,    400000, update, judge,
                        text,   completed_color, document};
