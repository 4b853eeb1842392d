// worth_table [SEED [ENGINES]]: what the patches that passed an SPRT are worth in truth, by the
// printed estimates, and by the mean under the engine's own prior (sprt/worth.h). In each row,
// TESTS patches of each of ENGINES simulated engines are tested; all sums are means over the
// engines, in nElo. The last two columns are the usual distance between the expected sum of a
// single engine and the true one, and the share of the 95 % intervals that have the truth. Ends
// with 1 if an expected sum is not within 15 % of the true one.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/kit/worth_trial.h"

enum { TESTS = 300, ENGINES = 100 };
static const double SUM_TOLERANCE = 0.15;

static const WorthTrial TRIALS[] = {
    {-1, 1, {SPRT_NORMALIZED, 0, 2, 0.05, 0.05}, TESTS, 16},
    {-1, 2, {SPRT_NORMALIZED, 0, 2, 0.05, 0.05}, TESTS, 16},
    {-5, 10, {SPRT_NORMALIZED, 0, 5, 0.05, 0.05}, TESTS, 16},
    {-10, 10, {SPRT_LOGISTIC, 0, 10, 0.05, 0.05}, TESTS, 16},
};

static bool print_row(const WorthTrial *trial, PairSource *source, int engines) {
    WorthSums all = {0};
    double squares = 0;
    for (int i = 0; i < engines; i++) {
        WorthSums before = all;
        worth_trial_play(trial, source, &all);
        double off = (all.expected - before.expected) - (all.truth - before.truth);
        squares += off * off / engines;
    }
    bool logistic = trial->bounds.model == SPRT_LOGISTIC;
    double off = all.expected / all.truth - 1;
    printf("N(%3g, %3g) %c%g, %g%c%*s", trial->mean, trial->spread * trial->spread,
           logistic ? '{' : '<', trial->bounds.elo0, trial->bounds.elo1, logistic ? '}' : '>',
           trial->bounds.elo1 < 10, "");
    printf("%7.1f %8.2f %8.2f %+6.0f %% %8.2f %+6.1f %% %10.0f %% %7.1f %%\n", all.passed / engines,
           all.truth / engines, all.printed / engines, 100 * (all.printed / all.truth - 1),
           all.expected / engines, 100 * off, 100 * sqrt(squares) / (all.truth / engines),
           100 * all.covered / all.passed);
    fflush(stdout);
    return fabs(off) <= SUM_TOLERANCE;
}

int main(int argc, char **argv) {
    static PairSource source;
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int engines = argc > 2 ? (int)strtol(argv[2], NULL, 10) : ENGINES;
    pair_source_seed(&source, seed);
    printf("%d engines with %d patches each, seed %" PRIu64 "\n", engines, TESTS, seed);
    printf("%-10s %-8s%7s %8s %8s %8s %8s %8s %12s %9s\n", "patches", "bounds", "passed", "truth",
           "printed", "", "expected", "", "one engine", "covered");
    bool fine = true;
    for (size_t i = 0; i < sizeof TRIALS / sizeof *TRIALS; i++)
        fine &= print_row(&TRIALS[i], &source, engines);
    return !fine;
}
