// See worth.h.
//
// A result x with the standard error e of a patch whose worth is N(m, v) is N(m, v + e²). For a
// given v, the likelihood is greatest at the mean of the results with the weights 1/(v + e²). Its
// derivative by v is then half of the sum of w²(x - m)² - w. It is negative for a large v; the v
// that is sought is where it changes its sign, or 0.
#include "sprt/worth.h"

#include "sprt/distribution.h"
#include "sprt/sprt.h"

#include <math.h>

#define Z95 1.959963984540054 // half the width of a 95 % interval in standard deviations
enum { HALVINGS = 100 };

bool worth_result(const double counts[5], WorthResult *result) {
    double lost = counts[0] + counts[1], won = counts[3] + counts[4];
    if (lost + counts[2] + won < WORTH_PAIRS_MIN || lost < WORTH_SIDE_MIN || won < WORTH_SIDE_MIN)
        return false;
    EloEstimate e = elo_estimate(counts, 5);
    *result = (WorthResult){.nelo = e.nelo, .error = e.nelo_error / Z95};
    return true;
}

static double weight(const WorthResult *result, double variance) {
    return 1 / (variance + result->error * result->error);
}

static double mean_at(const WorthResult *results, int count, double variance) {
    double sum = 0, weights = 0;
    for (int i = 0; i < count; i++) {
        double w = weight(&results[i], variance);
        sum += w * results[i].nelo;
        weights += w;
    }
    return sum / weights;
}

static double slope_at(const WorthResult *results, int count, double variance) {
    double mean = mean_at(results, count, variance), slope = 0;
    for (int i = 0; i < count; i++) {
        double w = weight(&results[i], variance), off = results[i].nelo - mean;
        slope += w * (w * off * off - 1);
    }
    return slope;
}

// An upper limit of the variance: where it exceeds all squared distances from 0, every term of the
// derivative is negative, since the mean lies between the results.
static double variance_limit(const WorthResult *results, int count) {
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(results[i].nelo));
    return 4 * most * most;
}

WorthPrior worth_prior(const WorthResult *results, int count) {
    if (count < WORTH_TESTS_MIN)
        return (WorthPrior){NAN, NAN, count};
    double low = 0, high = variance_limit(results, count);
    for (int i = 0; i < HALVINGS && low < high; i++) {
        double middle = (low + high) / 2;
        *(slope_at(results, count, middle) > 0 ? &low : &high) = middle;
    }
    return (WorthPrior){mean_at(results, count, low), sqrt(low), count};
}

Worth worth_expected(const WorthPrior *prior, const WorthResult *result) {
    double of_prior = prior->spread * prior->spread, of_result = result->error * result->error;
    double variance = of_prior * of_result / (of_prior + of_result);
    double nelo = (prior->mean * of_result + result->nelo * of_prior) / (of_prior + of_result);
    double half = Z95 * sqrt(variance);
    return (Worth){nelo, nelo - half, nelo + half};
}

Worth worth_in_elo(const Worth *worth, const double counts[5]) {
    Distribution dist;
    distribution_init(&dist, counts, 5);
    double unit = distribution_t_per_nelo(5) * sqrt(distribution_moments(&dist).var);
    return (Worth){score_to_elo(0.5 + unit * worth->mean), score_to_elo(0.5 + unit * worth->low),
                   score_to_elo(0.5 + unit * worth->high)};
}
