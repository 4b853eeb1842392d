// The statistics of a test as one JSON document: see verdict.h. Numbers are given raw; how many
// digits people see is decided where pages are made.
#include <math.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/ledger/sprt_state.h"

// A test's row, taken apart once.
typedef struct Facts {
    const json_t *test;
    SprtBounds bounds;
    SprtState state;
    bool is_sprt, finished;
    double counts[5], pairs, wins, losses, draws, games, llr;
} Facts;

// JSON has no infinity and no NaN.
static json_t *real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static Facts facts_of(const json_t *test) {
    static const char *const keys[] = {"ptnml0", "ptnml1", "ptnml2", "ptnml3", "ptnml4"};
    Facts f = {
        .test = test,
        .bounds = verdict_bounds(member_text(test, "model"), member_real(test, "elo0"),
                                 member_real(test, "elo1"), member_real(test, "alpha"),
                                 member_real(test, "beta")),
        .is_sprt = strcmp(member_text(test, "kind"), "sprt") == 0,
        .finished = strcmp(member_text(test, "state"), "finished") == 0,
        .wins = member_real(test, "wins"),
        .losses = member_real(test, "losses"),
        .draws = member_real(test, "draws"),
        .llr = member_real(test, "llr"),
    };
    for (int i = 0; i < 5; i++)
        f.pairs += f.counts[i] = member_real(test, keys[i]);
    f.games = 2 * f.pairs;
    verdict_state_read(member_text(test, "sprt_state"), &f.state);
    return f;
}

static double clamp(double value, double low, double high) {
    return fmin(fmax(value, low), high);
}

// Where the LLR stands between the bounds as they hold now: -1 rejected, 1 accepted.
static double progress(const Facts *f) {
    double low = sprt_lower_now(&f->state, &f->bounds);
    double high = sprt_upper_now(&f->state, &f->bounds);
    if (f->llr < 0)
        return clamp(low < 0 ? -f->llr / low : -1, -1, 0);
    return clamp(high > 0 ? f->llr / high : 1, 0, 1);
}

static json_t *bounds_json(const Facts *f) {
    if (!f->is_sprt)
        return json_null();
    return json_pack(
        "{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:f}", "lower", sprt_lower(&f->bounds),
        "upper", sprt_upper(&f->bounds), "lower_now", sprt_lower_now(&f->state, &f->bounds),
        "upper_now", sprt_upper_now(&f->state, &f->bounds), "elo0", f->bounds.elo0, "elo1",
        f->bounds.elo1, "alpha", f->bounds.alpha, "beta", f->bounds.beta, "model",
        f->bounds.model == SPRT_LOGISTIC ? "logistic" : "normalized", "progress", progress(f));
}

static json_t *sequential_json(const Facts *f) {
    if (!f->is_sprt || f->pairs <= 0)
        return json_null();
    SprtEstimate e = sprt_estimate(&f->bounds, 0.05, f->counts, 5);
    return json_pack("{s:o, s:o, s:o, s:o}", "elo", real(e.elo), "low", real(e.low), "high",
                     real(e.high), "los", real(e.los));
}

static json_t *plain_json(const EloEstimate *e) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "elo", real(e->elo), "error", real(e->error),
                     "low", real(e->elo - e->error), "high", real(e->elo + e->error), "los",
                     real(e->los));
}

// ---- how long it will take ----------------------------------------------------------------------

// Expected further pairs, and the chance to pass, of a Brownian motion at x between a and b with
// drift m and variance v a pair (Wald).
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

// The LLR's drift is known only as well as it was seen: llr/N, with a variance of v/N. The
// expectation is the mean over five equally likely drifts. v, the variance of the LLR a pair,
// follows from the distance of the hypotheses: (s1 - s0)²/var.
static bool extrapolate(const Facts *f, double *pairs, double *pass) {
    static const double quantiles[] = {-1.2816, -0.5244, 0, 0.5244, 1.2816};
    double mean = 0, variance = 0;
    for (int i = 0; i < 5; i++)
        mean += f->counts[i] * i / 4 / f->pairs;
    for (int i = 0; i < 5; i++)
        variance += f->counts[i] * (i / 4.0 - mean) * (i / 4.0 - mean) / f->pairs;
    if (!(variance > 0))
        return false;
    double distance =
        f->bounds.model == SPRT_LOGISTIC
            ? elo_to_score(f->bounds.elo1) - elo_to_score(f->bounds.elo0)
            : (f->bounds.elo1 - f->bounds.elo0) / (800 / log(10)) * sqrt(2 * variance);
    double v = distance * distance / variance;
    double a = sprt_lower_now(&f->state, &f->bounds), b = sprt_upper_now(&f->state, &f->bounds);
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

// Before there is anything to go by: a patch worth nothing, drawn half the time.
static void expect_unseen(const Facts *f, double *pairs, double *pass) {
    SprtExpectation e = sprt_expect(&f->bounds, 0.5, 0, 0);
    *pairs = e.games / 2;
    *pass = e.pass;
}

static json_t *eta_json(const Facts *f, double games_per_hour) {
    enum { ENOUGH_PAIRS = 32 };
    double pairs = 0, pass = NAN, left = member_real(f->test, "pairs_max") - f->pairs;
    if (f->finished)
        return json_null();
    if (f->is_sprt) {
        if (f->pairs < ENOUGH_PAIRS)
            expect_unseen(f, &pairs, &pass);
        else if (!extrapolate(f, &pairs, &pass))
            return json_null();
        left = fmin(left, pairs);
    }
    if (!isfinite(left))
        return json_null();
    double games_left = 2 * fmax(left, 0);
    return json_pack(
        "{s:f, s:f, s:o, s:o}", "games", f->games + games_left, "games_left", games_left, "seconds",
        real(games_per_hour > 0 ? games_left / games_per_hour * 3600 : NAN), "pass", real(pass));
}

// ---- the document -------------------------------------------------------------------------------

static json_t *share_json(const Facts *f) {
    double all = f->wins + f->losses + f->draws, part = all > 0 ? 100 / all : 0;
    return json_pack("{s:f, s:f, s:f}", "win", f->wins * part, "draw", f->draws * part, "loss",
                     f->losses * part);
}

static void add_counts(const Facts *f, json_t *out) {
    json_t *ptnml = json_array();
    for (int i = 0; i < 5; i++)
        json_array_append_new(ptnml, json_integer((json_int_t)f->counts[i]));
    json_object_set_new(out, "games", json_integer((json_int_t)f->games));
    json_object_set_new(out, "pairs", json_integer((json_int_t)f->pairs));
    json_object_set_new(out, "wins", json_integer((json_int_t)f->wins));
    json_object_set_new(out, "losses", json_integer((json_int_t)f->losses));
    json_object_set_new(out, "draws", json_integer((json_int_t)f->draws));
    json_object_set_new(out, "ptnml", ptnml);
    json_object_set_new(out, "wdl_percent", share_json(f));
}

json_t *verdict_document(const json_t *test, double games_per_hour) {
    Facts f = facts_of(test);
    EloEstimate e = elo_estimate(f.counts, 5);
    bool any = f.pairs > 0;
    Str text;
    str_init(&text, 1024);
    verdict_text(test, &text);
    json_t *out = json_pack("{s:s, s:s}", "text", text.data, "color", verdict_color(test));
    str_release(&text);
    add_counts(&f, out);
    json_object_set_new(out, "llr", f.is_sprt ? real(f.llr) : json_null());
    json_object_set_new(out, "bounds", bounds_json(&f));
    json_object_set_new(out, "sequential", sequential_json(&f));
    json_object_set_new(out, "plain", any ? plain_json(&e) : json_null());
    json_object_set_new(
        out, "nelo",
        any ? json_pack("{s:o, s:o}", "nelo", real(e.nelo), "error", real(e.nelo_error))
            : json_null());
    json_object_set_new(out, "pair_ratio", real(e.pair_ratio));
    json_object_set_new(out, "draw_ratio", real(any ? f.draws / f.games : NAN));
    json_object_set_new(out, "draw_ratio_pairs", real(any ? e.draw_ratio : NAN));
    json_object_set_new(out, "eta", eta_json(&f, games_per_hour));
    return out;
}
