// What a patch is worth, given how much other patches were worth (empirical Bayes).
//
// The printed Elo of accepted patches is too high in their sum: of patches that are worth the same,
// those pass that were lucky. Here the worth of the patches of one kind is normal in normalized
// Elo, N(mean, spread²). Mean and spread are those that make the results of all finished tests of
// that kind most likely, the rejected ones included. What a patch is expected to be worth is the
// mean of its worth, given its own result.
//
// It does not matter that an SPRT ended the tests. When to stop depends on the results alone, so it
// is a factor of the likelihood that does not depend on the worth (the likelihood principle), and
// the likelihood of a stopped test is the one of its final counts. As a function of nElo this is a
// normal density around the plain estimate: within three standard errors, its logarithm differs
// from that of the profile likelihood, which sprt_llr() computes, by 2 % on average in tests of 500
// pairs, and by 1 % in those of 4,000.
#pragma once

#include <stdbool.h>

// A test with fewer pairs, or with fewer of them won or lost, is not read.
enum { WORTH_PAIRS_MIN = 100, WORTH_SIDE_MIN = 5 };
// There is no prior for fewer tests.
enum { WORTH_TESTS_MIN = 100 };

typedef struct WorthResult {
    double nelo, error; // of the final counts: the plain estimate, and its standard error
} WorthResult;

typedef struct WorthPrior {
    double mean, spread; // nElo; the spread is 0 if chance explains all differences of the results
    int tests;
} WorthPrior;

typedef struct Worth {
    double mean;      // of what the patch may be worth, in nElo
    double low, high; // 95 % interval; it takes mean and spread of the prior as known
} Worth;

// False: the counts of pairs say too little.
bool worth_result(const double counts[5], WorthResult *result);
// The prior by maximum likelihood: `mean` and `spread` NAN for fewer than WORTH_TESTS_MIN results.
WorthPrior worth_prior(const WorthResult *results, int count);
Worth worth_expected(const WorthPrior *prior, const WorthResult *result);
// The same in logistic Elo, if a game has the spread that it has in these counts of pairs.
Worth worth_in_elo(const Worth *worth, const double counts[5]);
