// Plays 20,000 simulated tests for each true Elo and compares pass rate and mean length with the
// figures known for this law (logistic (0,10), batches of 16 pairs, alpha = beta = 0.05), once with
// and once without the correction for overshoot: within three standard errors each, so that a
// correction that is lost, or done where it should not be, shows. TAP on standard output; the seed
// is fixed, so that a run either always passes or never does.
#include "sprt/sprt.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { PATHS = 20000, BATCH = 16, PAIRS_MAX = 400000 };

// Pair law of a common opening book at short time control, without advantage.
static const double BASE[5] = {0.0055, 0.2345, 0.52, 0.2345, 0.0055};
static const SprtBounds BOUNDS = {SPRT_LOGISTIC, 0, 10, 0.05, 0.05};

// Known figures and their standard errors; those of the uncorrected test were taken with the same
// number of paths.
typedef struct Known {
    double elo;
    double pass, pass_error, games, games_error;
    double pass_plain, games_plain;
} Known;
static const Known KNOWN[] = {
    {0, 0.0511, 0.0007, 1647, 4, 0.0424, 1785},
    {5, 0.5002, 0.0016, 2686, 7, 0.4996, 3029},
    {10, 0.9505, 0.0007, 1649, 4, 0.9588, 1785},
};
enum { KNOWN_COUNT = sizeof KNOWN / sizeof *KNOWN };

// xorshift64*, scaled to [0, 1).
static double random_unit(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)((*state * 0x2545f4914f6cdd1dULL) >> 11) * 0x1p-53;
}

static double tilted_mean(double theta, double law[5]) {
    double sum = 0, mean = 0;
    for (int i = 0; i < 5; i++)
        sum += law[i] = BASE[i] * exp(theta * i / 4);
    for (int i = 0; i < 5; i++)
        mean += (law[i] /= sum) * i / 4;
    return mean;
}

// The base law tilted by exp(theta score) so that its mean is that of `elo`.
static void tilt_to(double elo, double law[5]) {
    double low = -20, high = 20;
    for (int i = 0; i < 100; i++) {
        double theta = (low + high) / 2;
        *(tilted_mean(theta, law) < elo_to_score(elo) ? &low : &high) = theta;
    }
}

static int random_outcome(const double law[5], uint64_t *state) {
    double u = random_unit(state);
    int i = 0;
    while (i < 4 && (u -= law[i]) >= 0)
        i++;
    return i;
}

typedef struct Path {
    bool passed;
    double pairs;
} Path;

static Path play(const double law[5], bool corrected, uint64_t *random) {
    double counts[5] = {0};
    SprtState state = {.uncorrected = !corrected};
    while (state.verdict == SPRT_OPEN && state.pairs < PAIRS_MAX) {
        for (int i = 0; i < BATCH; i++)
            counts[random_outcome(law, random)]++;
        sprt_update(&state, &BOUNDS, BATCH, counts);
    }
    return (Path){state.verdict == SPRT_ACCEPTED, state.pairs};
}

typedef struct Found {
    double pass, pass_error, games, games_error;
} Found;

static Found simulate(double elo, bool corrected, uint64_t *random) {
    double law[5], passes = 0, sum = 0, squares = 0;
    tilt_to(elo, law);
    for (int i = 0; i < PATHS; i++) {
        Path path = play(law, corrected, random);
        passes += path.passed;
        sum += 2 * path.pairs;
        squares += 4 * path.pairs * path.pairs;
    }
    double pass = passes / PATHS, games = sum / PATHS;
    return (Found){pass, sqrt(pass * (1 - pass) / PATHS), games,
                   sqrt((squares / PATHS - games * games) / PATHS)};
}

static int tests, failures;

static void check(const char *what, double elo, bool corrected, double found, double found_error,
                  double known, double known_error) {
    double error = hypot(found_error, known_error);
    double deviation = (found - known) / error;
    bool ok = fabs(deviation) <= 3;
    failures += !ok;
    printf("%s %d - %s at %g Elo %s correction: %.5g, known %.5g, %+.1f standard errors\n",
           ok ? "ok" : "not ok", ++tests, what, elo, corrected ? "with" : "without", found, known,
           deviation);
}

int main(void) {
    uint64_t random = 20240229;
    printf("1..%d\n", 4 * KNOWN_COUNT);
    for (int i = 0; i < KNOWN_COUNT; i++) {
        const Known *k = &KNOWN[i];
        Found with = simulate(k->elo, true, &random);
        check("pass rate", k->elo, true, with.pass, with.pass_error, k->pass, k->pass_error);
        check("mean games", k->elo, true, with.games, with.games_error, k->games, k->games_error);
        Found without = simulate(k->elo, false, &random);
        check("pass rate", k->elo, false, without.pass, without.pass_error, k->pass_plain,
              k->pass_error);
        check("mean games", k->elo, false, without.games, without.games_error, k->games_plain,
              k->games_error);
        fflush(stdout);
    }
    return failures > 0;
}
