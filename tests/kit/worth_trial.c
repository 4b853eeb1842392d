// See worth_trial.h.
#include "tests/kit/worth_trial.h"

#include <stdlib.h>

#include "server/common/str.h"

enum { PAIRS_MAX = 400000 };
static const double DRAW_SHARE = 0.5; // of pairs

typedef struct Tried {
    double truth;
    WorthResult result;
    SprtVerdict verdict;
    bool is_read;
} Tried;

static Tried try_patch(const WorthTrial *trial, PairSource *source) {
    double counts[5] = {0};
    SprtState state = {0};
    pair_source_set(source, DRAW_SHARE, trial->mean + trial->spread * pair_source_normal(source));
    while (state.verdict == SPRT_OPEN && state.pairs < PAIRS_MAX) {
        pair_source_play(source, trial->batch_pairs, counts);
        sprt_update(&state, &trial->bounds, trial->batch_pairs, counts);
    }
    Tried tried = {.truth = pair_source_truth(source, SPRT_NORMALIZED), .verdict = state.verdict};
    tried.is_read = worth_result(counts, &tried.result);
    return tried;
}

static void add_passed(const Tried *tried, WorthSums *sums) {
    Worth worth = worth_expected(&sums->prior, &tried->result);
    sums->passed++;
    sums->truth += tried->truth;
    sums->printed += tried->result.nelo;
    sums->expected += worth.mean;
    sums->covered += worth.low <= tried->truth && tried->truth <= worth.high;
}

void worth_trial_play(const WorthTrial *trial, PairSource *source, WorthSums *sums) {
    Tried *tried = xcalloc((size_t)trial->tests, sizeof *tried);
    WorthResult *results = xcalloc((size_t)trial->tests, sizeof *results);
    int count = 0;
    for (int i = 0; i < trial->tests; i++) {
        tried[i] = try_patch(trial, source);
        if (tried[i].is_read)
            results[count++] = tried[i].result;
    }
    sums->prior = worth_prior(results, count);
    for (int i = 0; i < trial->tests; i++)
        if (tried[i].verdict == SPRT_ACCEPTED && tried[i].is_read)
            add_passed(&tried[i], sums);
    free(results);
    free(tried);
}
