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

// ---- how long it will take ----------------------------------------------------------------------

// Expected number of further pairs, and probability to pass, of a Brownian motion at x between a
// and b with drift m and variance v for each pair (Wald).
static void brownian_exit(double a, double b, double x, double m, double v, double *pairs,
                          double *pass) {
    double h = 2 * m / v, down = x - a, up = b - x;
    if (fabs(h * (b - a)) < 1e-6) {
        *pass = down / (b - a);
        *pairs = down * up / v;
        return;
    }
    *pass = expm1(-h * down) / expm1(-h * (b - a));
    *pairs = (up * *pass - down * (1 - *pass)) / m;
}

// The drift of the LLR is estimated as llr/N; the estimate has the variance v/N. The expectation is
// the mean over five equally likely drifts. v, the variance of the LLR for each pair, follows from
// the distance of the hypotheses: (s1 - s0)²/var.
static bool extrapolate(const TestFacts *f, double *pairs, double *pass) {
    static const double quantiles[] = {-1.2816, -0.5244, 0, 0.5244, 1.2816};
    double mean = 0, variance = 0;
    for (int i = 0; i < 5; i++)
        mean += f->counts[i] * i / 4 / f->pairs;
    for (int i = 0; i < 5; i++)
        variance += f->counts[i] * (i / 4.0 - mean) * (i / 4.0 - mean) / f->pairs;
    if (!(variance > 0))
        return false;
    double distance =
        f->rule.bounds.model == SPRT_LOGISTIC
            ? elo_to_score(f->rule.bounds.elo1) - elo_to_score(f->rule.bounds.elo0)
            : (f->rule.bounds.elo1 - f->rule.bounds.elo0) / (800 / log(10)) * sqrt(2 * variance);
    double v = distance * distance / variance;
    double a = sprt_lower_now(&f->state, &f->rule.bounds),
           b = sprt_upper_now(&f->state, &f->rule.bounds);
    if (!(f->llr > a && f->llr < b))
        return false;
    *pairs = *pass = 0;
    for (int i = 0; i < 5; i++) {
        double n, p, drift = f->llr / f->pairs + quantiles[i] * sqrt(v / f->pairs);
        brownian_exit(a, b, f->llr, drift, v, &n, &p);
        *pairs += n / 5;
        *pass += p / 5;
    }
    return isfinite(*pairs);
}

// Before there are enough games: assumes a patch of 0 Elo and half of the games drawn.
static void expect_unseen(const TestFacts *f, double *pairs, double *pass) {
    SprtExpectation e = sprt_expect(&f->rule.bounds, 0.5, 0, 0);
    *pairs = e.games / 2;
    *pass = e.pass;
}

static json_t *eta_json(const TestFacts *f) {
    enum { ENOUGH_PAIRS = 32 };
    double pairs = 0, pass = NAN;
    if (f->finished)
        return json_null();
    if (f->pairs < ENOUGH_PAIRS)
        expect_unseen(f, &pairs, &pass);
    else if (!extrapolate(f, &pairs, &pass))
        return json_null();
    return kind_eta(f, fmin((double)f->rule.pairs_max - f->pairs, pairs), pass);
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
