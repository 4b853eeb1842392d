// Tests that run until the difference is known to ± x Elo. Counts are pentanomial (sprt.h).
//
// After each batch the test takes the usual 95 % interval (elo_estimate) and stops once it is no
// wider than ± x. A rule of this kind covers the truth in 95 % of the tests if x is small (Chow and
// Robbins, Annals of Mathematical Statistics 36, 1965). With few results it covers the truth less
// often, because a test stops early if the variance of its results happens to look small. The two
// minimums below prevent this; README.md has the coverage that simulated tests reach.
#pragma once

#include "sprt/sprt.h"

// No test stops before it has this many pairs, nor before it has this many pairs outside their most
// frequent outcome, which is the middle one in nearly all tests. Normalized Elo divides by the
// deviation of the results, so it needs more of them: with 25, the coverage is 93 % in a test
// with 98 % of the pairs in the middle.
enum { WIDTH_PAIRS_MIN = 500, WIDTH_SPREAD_MIN = 25, WIDTH_SPREAD_MIN_NORMALIZED = 100 };

// The limits of x.
#define WIDTH_ELO_MIN 0.1
#define WIDTH_ELO_MAX 100.0

typedef struct WidthRule {
    SprtModel unit;
    double elo; // x, in this unit
} WidthRule;

typedef struct WidthInterval {
    double elo;       // the estimate, in the unit of the rule
    double half;      // (high - low)/2
    double low, high; // the limits of the 95 % interval
    bool stops;       // half <= x, with both minimums reached
} WidthInterval;

// Why `rule` is not valid, as a sentence for people; NULL if it is valid.
const char *width_rule_check(const WidthRule *rule);
// All numbers are NAN if there are no pairs. Logistic Elo is limited as in score_to_elo(). An
// interval with such a limit does not stop a test, because it looks narrower than it is.
WidthInterval width_interval(const WidthRule *rule, const double counts[5]);

// Pairs of a test between two equal engines. `draw_share`, in (0, 1), is the share of pairs with
// the middle outcome; width_even_law() gives the other shares. It leaves out the rest of the last
// batch, and the chance in the variance of the results.
double width_pairs_expected(const WidthRule *rule, double draw_share);

// The distribution of the outcomes of pairs whose two games are independent, and won as often as
// lost, if the middle outcome has the share `draw_share`. The least share of such pairs is 1/3;
// below it, the outer outcomes have their proportions at 1/3.
void width_even_law(double draw_share, double law[5]);
