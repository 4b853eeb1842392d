// Log-likelihood ratios of the generalised SPRT: each hypothesis is replaced by the
// maximum-likelihood distribution that fulfils it.
//
// Both hypotheses are linear constraints sum q b = 0 on the distribution q. The maximum-likelihood
// solution is q = p/(1 + x b), where x is the root of the secular equation
// sum p b/(1 + x b) = 0 (support_MLE_multinomial, Prop. 1.1).
// Logistic: b = score - s.
// Normalized: the t-value is given, mean - 1/2 = t sd. With c = score - 1/2 this is E c = tau rho,
// where rho^2 = E c^2 and tau = t/sqrt(1 + t^2). The tangent at rho is
// b = c - tau/2 (rho + c^2/rho), so rho is a second unknown. Fishtest iterates on mean and
// deviation up to ten times; the limit is the same distribution. Here Newton's method in (x, rho)
// finds it directly.
//
// The likelihood is stationary in x and rho at the solution, so it depends on the square of their
// errors.
#include "sprt/distribution.h"
#include "sprt/law.h"
#include "sprt/sprt.h"

#include <math.h>

enum { SECULAR_STEPS_MAX = 200, JOINT_STEPS_MAX = 12, FIXED_POINT_STEPS_MAX = 400 };

// If a Newton step changes each 1 + x b by at most this fraction, the error that remains is the
// square of it, and the error of the likelihood is the square of that. A smaller tolerance would be
// below the rounding errors near a pole.
static const double STEP_TOLERANCE = 1e-5;
static const double RHO_TOLERANCE = 1e-10;
static const double T_NEAR = 0.25; // about 60 normalized Elo

typedef struct Fit {
    double b[OUTCOMES_MAX];
    double x;
    double rho; // normalized only
} Fit;

static double clamp_inside(double x, double low, double high) {
    return x > low && x < high ? x : (low + high) / 2;
}

// Solves the secular equation for fit->b, which must have both signs. Newton's method in a bracket
// between the poles; a step that would leave the bracket is replaced by bisection.
static void fit_secular(Fit *fit, const Distribution *dist) {
    double b_min = 0, b_max = 0, slope = 0, curve = 0;
    for (int i = 0; i < dist->n; i++) {
        double b = fit->b[i];
        b_min = fmin(b_min, b);
        b_max = fmax(b_max, b);
        slope += dist->p[i] * b;
        curve += dist->p[i] * b * b;
    }
    double low = -1 / b_max, high = -1 / b_min;
    double x = clamp_inside(slope / curve, low, high);
    for (int step = 0; step < SECULAR_STEPS_MAX; step++) {
        double f = 0, df = 0, steepest = 0;
        for (int i = 0; i < dist->n; i++) {
            double u = fit->b[i] / (1 + x * fit->b[i]);
            f += dist->p[i] * u;
            df += dist->p[i] * u * u;
            steepest = fmax(steepest, fabs(u));
        }
        *(f > 0 ? &low : &high) = x;
        double newton = f / df;
        if (fabs(newton) * steepest <= STEP_TOLERANCE) {
            x += newton;
            break;
        }
        x = clamp_inside(x + newton, low, high);
        if (!(low < x && x < high)) // adjacent numbers
            break;
    }
    fit->x = x;
}

static void fit_tangent(Fit *fit, const Distribution *dist, double tau) {
    for (int i = 0; i < dist->n; i++) {
        double c = dist->score[i] - 0.5;
        fit->b[i] = c - tau / 2 * (fit->rho + c * c / fit->rho);
    }
}

// One Newton step in (x, rho) on F = sum p b/r and G = sum p k/r with r = 1 + x b and
// k = 1 - c^2/rho^2, where db/drho = -tau/2 k. Returns the relative size of the step, or NAN where
// r is not positive or the step does not lead to a maximum: at a maximum of the likelihood the
// determinant is negative, on both sides of the constraint.
static double fit_joint_step(Fit *fit, const Distribution *dist, double tau) {
    double f = 0, g = 0, fx = 0, fr = 0, gx = 0, gr = 0, steepest = 0;
    double rho = fit->rho, inverse = 1 / rho;
    for (int i = 0; i < dist->n; i++) {
        double c = dist->score[i] - 0.5, z = c * inverse;
        double r = 1 + fit->x * fit->b[i];
        if (!(r > 0))
            return NAN;
        double w = 1 / r, pw = dist->p[i] * w;
        double u = fit->b[i] * w, k = 1 - z * z, kw = k * w;
        f += pw * fit->b[i];
        g += pw * k;
        fx -= dist->p[i] * u * u;
        fr -= pw * kw;
        gx -= pw * k * u;
        gr += pw * (2 * z * z * inverse + tau / 2 * fit->x * k * kw);
        steepest = fmax(steepest, fabs(u));
    }
    fr *= tau / 2;
    double det = fx * gr - fr * gx;
    if (!(det < 0))
        return NAN;
    double dx = (fr * g - gr * f) / det, dr = (gx * f - fx * g) / det;
    fit->x += dx;
    fit->rho += dr;
    if (!(fit->rho > 0 && fit->rho < 1))
        return NAN;
    fit_tangent(fit, dist, tau);
    return fabs(dx) * steepest + fabs(dr) * inverse;
}

static bool fit_joint(Fit *fit, const Distribution *dist, double tau) {
    for (int step = 0; step < JOINT_STEPS_MAX; step++) {
        double size = fit_joint_step(fit, dist, tau);
        if (isnan(size))
            return false;
        if (size <= STEP_TOLERANCE)
            return true;
    }
    return false;
}

// rho of the fitted distribution.
static double fitted_rho(const Fit *fit, const Distribution *dist) {
    double sum = 0;
    for (int i = 0; i < dist->n; i++) {
        double c = dist->score[i] - 0.5;
        sum += dist->p[i] * c * c / (1 + fit->x * fit->b[i]);
    }
    return sqrt(sum);
}

static double uniform_variance(int n) {
    return n == 5 ? 0.125 : 1.0 / 6;
}

// Fishtest's estimator starts at the uniform distribution. If all b of the constraint have the same
// sign there, it has no first step, and there is no value.
static bool t_in_domain(const Distribution *dist, double t) {
    double var = uniform_variance(dist->n);
    return fabs(t) * (var + 0.25) < sqrt(var);
}

// The start of the joint fit: rho of the observed distribution, and x to first order.
static void fit_guess(Fit *fit, const Distribution *dist, double tau) {
    double rho2 = 0, slope = 0, curve = 0;
    for (int i = 0; i < dist->n; i++) {
        double c = dist->score[i] - 0.5;
        rho2 += dist->p[i] * c * c;
    }
    fit->rho = sqrt(rho2);
    fit_tangent(fit, dist, tau);
    for (int i = 0; i < dist->n; i++) {
        slope += dist->p[i] * fit->b[i];
        curve += dist->p[i] * fit->b[i] * fit->b[i];
    }
    fit->x = slope / curve;
}

// Newton's method from the observed distribution nearly always converges. But if the hypothesis is
// far from it, the likelihood may have several maxima. Fishtest's maximum is the one that the
// fixed-point iteration finds from the uniform distribution. That iteration is slow but safe, and
// Newton's method finishes once its steps are short.
static bool fit_t_value(Fit *fit, const Distribution *dist, double t) {
    double tau = t / sqrt(1 + t * t);
    fit_guess(fit, dist, tau);
    if (fabs(t) < T_NEAR && fit_joint(fit, dist, tau))
        return true;
    fit->rho = sqrt(uniform_variance(dist->n));
    for (int step = 0; step < FIXED_POINT_STEPS_MAX; step++) {
        fit_tangent(fit, dist, tau);
        fit_secular(fit, dist);
        double rho = fitted_rho(fit, dist), moved = fabs(rho / fit->rho - 1);
        Fit joint = *fit;
        if (moved < 0.001 && fit_joint(&joint, dist, tau)) {
            *fit = joint;
            return true;
        }
        fit->rho = rho;
        if (moved <= RHO_TOLERANCE)
            return true;
    }
    return false;
}

static bool fit_hypothesis(Fit *fit, const Distribution *dist, SprtModel model, double elo) {
    double t = model == SPRT_NORMALIZED ? elo * distribution_t_per_nelo(dist->n) : 0;
    if (!isfinite(elo) || !t_in_domain(dist, t))
        return false;
    if (t != 0)
        return fit_t_value(fit, dist, t);
    double s = model == SPRT_LOGISTIC ? elo_to_score(elo) : 0.5;
    if (s <= 0 || s >= 1)
        return false;
    for (int i = 0; i < dist->n; i++)
        fit->b[i] = dist->score[i] - s;
    fit_secular(fit, dist);
    return true;
}

// The two hypotheses fitted to the distribution of `counts`.
typedef struct Fits {
    Distribution dist;
    Fit h0, h1;
} Fits;

static bool fits_init(Fits *fits, SprtModel model, double elo0, double elo1, const double *counts,
                      int n) {
    *fits = (Fits){0};
    distribution_init(&fits->dist, counts, n);
    return fit_hypothesis(&fits->h0, &fits->dist, model, elo0) &&
           fit_hypothesis(&fits->h1, &fits->dist, model, elo1);
}

static double log_ratio(const Fits *fits, int i) { // ln(q1/q0)
    double e0 = fits->h0.x * fits->h0.b[i], e1 = fits->h1.x * fits->h1.b[i];
    return log1p((e0 - e1) / (1 + e1));
}

double sprt_llr(SprtModel model, double elo0, double elo1, const double *counts, int n) {
    Fits fits;
    if (!fits_init(&fits, model, elo0, elo1, counts, n))
        return NAN;
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += fits.dist.p[i] * log_ratio(&fits, i);
    return fits.dist.total * sum;
}

LlrStep llr_step(SprtModel model, double elo0, double elo1, const double law[5]) {
    enum { MANY = 1000000 }; // pairs: an outcome that the law does not have counts 0.001
    double counts[5], mean = 0, squares = 0;
    Fits fits;
    for (int i = 0; i < 5; i++)
        counts[i] = law[i] * MANY;
    if (!fits_init(&fits, model, elo0, elo1, counts, 5))
        return (LlrStep){NAN, NAN};
    for (int i = 0; i < 5; i++) {
        double step = log_ratio(&fits, i);
        mean += fits.dist.p[i] * step;
        squares += fits.dist.p[i] * step * step;
    }
    return (LlrStep){mean, squares - mean * mean};
}
