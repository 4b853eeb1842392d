// See dispute.h.
#include "dispute.h"

#include <string.h>

static bool same_owner(const BenchVote *a, const BenchVote *b) {
    return strcmp(a->owner, b->owner) == 0;
}

// How many machines, or owners with a machine that does, say the same as votes[at].
static int support(const BenchVote *votes, int count, int at, bool machines) {
    int found = 0;
    for (int i = 0; i < count; i++) {
        bool is_first = votes[i].nodes == votes[at].nodes;
        for (int j = 0; j < i && is_first && !machines; j++)
            is_first = votes[j].nodes != votes[i].nodes || !same_owner(&votes[j], &votes[i]);
        found += is_first;
    }
    return found;
}

static bool is_one_owner(const BenchVote *votes, int count) {
    for (int i = 1; i < count; i++)
        if (!same_owner(&votes[i], &votes[0]))
            return false;
    return true;
}

BenchRuling bench_rule(const BenchVote *votes, int count, bool another) {
    bool alone = is_one_owner(votes, count);
    int best = 0, best_support = 0, next_support = 0;
    for (int i = 0; i < count; i++) {
        int mine = support(votes, count, i, alone);
        if (mine > best_support) {
            next_support = best_support;
            best_support = mine;
            best = i;
        } else if (mine > next_support && votes[i].nodes != votes[best].nodes)
            next_support = mine;
    }
    bool outnumbers = best_support >= 2 && best_support > next_support;
    bool unopposed = next_support == 0;
    if (alone ? !another && (unopposed || outnumbers) : outnumbers)
        return (BenchRuling){BENCH_ESTABLISH, votes[best].nodes};
    return (BenchRuling){another ? BENCH_WAIT : BENCH_TIED, votes[best].nodes};
}

FailureRuling failure_rule(const FailureWords *words) {
    if (words->failing > 1)
        return words->failing > words->playing ? FAILURE_ENDS : FAILURE_GOES_ON;
    if (words->another || words->playing > 0)
        return FAILURE_GOES_ON;
    return words->played ? FAILURE_PAUSES : FAILURE_ENDS;
}
