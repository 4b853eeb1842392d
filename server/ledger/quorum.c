// See quorum.h.
#include "server/ledger/quorum.h"

#include <string.h>

// ---- owners that are one

// Marks spread until nothing changes: same[i] becomes the lowest index that i is joined with.
typedef struct Joined {
    int same[VOICES_MAX];
} Joined;

static bool are_one(const char *owner_a, const char *network_a, const char *owner_b,
                    const char *network_b) {
    return strcmp(owner_a, owner_b) == 0 || (*network_a && strcmp(network_a, network_b) == 0);
}

static void join(Joined *joined, int count, int a, int b) {
    int low = joined->same[a] < joined->same[b] ? joined->same[a] : joined->same[b];
    int high = joined->same[a] + joined->same[b] - low;
    for (int i = 0; i < count && low != high; i++)
        if (joined->same[i] == high)
            joined->same[i] = low;
}

static bool voices_are_one(const Voice *a, const Voice *b) {
    return are_one(a->owner, a->network, b->owner, b->network) ||
           (*a->first && strcmp(a->first, b->first) == 0);
}

static void voices_join(const Voice *voices, int count, Joined *joined) {
    for (int i = 0; i < count; i++)
        joined->same[i] = i;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            if (voices_are_one(&voices[i], &voices[j]))
                join(joined, count, i, j);
}

// Owners that count as one: their votes get the name of the first owner.
static void votes_join(BenchVote *votes, int count) {
    Joined joined;
    for (int i = 0; i < count; i++)
        joined.same[i] = i;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            if (are_one(votes[i].owner, votes[i].network, votes[j].owner, votes[j].network))
                join(&joined, count, i, j);
    for (int i = 0; i < count; i++)
        if (joined.same[i] != i)
            memcpy(votes[i].owner, votes[joined.same[i]].owner, sizeof votes[i].owner);
}

// ---- bench counts

static bool same_owner(const BenchVote *a, const BenchVote *b) {
    return strcmp(a->owner, b->owner) == 0;
}

// How many machines, or owners with such a machine, report the same as votes[at].
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

BenchDecision bench_rule(const BenchVote *votes, int count, bool another) {
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
        return (BenchDecision){BENCH_ESTABLISH, votes[best].nodes};
    return (BenchDecision){another ? BENCH_WAIT : BENCH_TIED, votes[best].nodes};
}

// Whether these votes, all of proven owners, suffice for the count that the rule found.
static bool is_vouched(const BenchVote *votes, int count, int64_t nodes) {
    for (int i = 0; i < count; i++)
        if (votes[i].level == LEVEL_VOUCHED && votes[i].nodes == nodes)
            return true;
    return false;
}

static bool is_contradicted(const BenchVote *votes, int count, int64_t nodes) {
    for (int i = 0; i < count; i++)
        if (votes[i].level == LEVEL_VOUCHED && votes[i].nodes != nodes)
            return true;
    return false;
}

static BenchVerdict verdict_of_proven(const BenchVote *votes, int count, const BenchScene *scene,
                                      BenchDecision decision) {
    if (decision.verdict != BENCH_ESTABLISH || is_vouched(votes, count, decision.nodes))
        return decision.verdict;
    if (is_contradicted(votes, count, decision.nodes))
        return scene->another_proven ? BENCH_WAIT : BENCH_TIED;
    return scene->another_vouched || is_one_owner(votes, count) ? BENCH_WAIT : BENCH_ESTABLISH;
}

BenchDecision bench_weigh(const BenchVote *votes, int count, const BenchScene *scene) {
    BenchVote heard[BENCH_VOTES_MAX];
    int heard_count = 0;
    for (int i = 0; i < count; i++)
        if (votes[i].level > LEVEL_UNPROVEN)
            heard[heard_count++] = votes[i];
    bool proven = heard_count > 0;
    if (!proven)
        memcpy(heard, votes, (size_t)(heard_count = count) * sizeof *heard);
    votes_join(heard, heard_count);
    BenchDecision decision =
        bench_rule(heard, heard_count, proven ? scene->another_proven : scene->another);
    if (proven)
        decision.verdict = verdict_of_proven(heard, heard_count, scene, decision);
    else if (scene->another_proven || decision.verdict == BENCH_ESTABLISH)
        decision.verdict = BENCH_WAIT;
    return decision;
}

// ---- failures

FailureDecision failure_rule(const FailureWords *words) {
    if (words->failing > 1)
        return words->failing > words->playing ? FAILURE_ENDS : FAILURE_GOES_ON;
    if (words->another || words->playing > 0)
        return FAILURE_GOES_ON;
    return words->played ? FAILURE_PAUSES : FAILURE_ENDS;
}

// The combined report of owners that count as one, as far as they have at least this level.
static Voice voice_of(const Voice *voices, int count, const Joined *joined, int at,
                      OwnerLevel least) {
    Voice out = {.level = least};
    for (int i = at; i < count; i++)
        if (joined->same[i] == at && voices[i].level >= least) {
            out.failing |= voices[i].failing;
            out.played |= voices[i].played;
            out.could_try |= voices[i].could_try;
        }
    return out;
}

static FailureWords words_of(const Voice *voices, int count, const Joined *joined,
                             OwnerLevel least) {
    FailureWords words = {0};
    for (int i = 0; i < count; i++) {
        if (joined->same[i] != i)
            continue;
        Voice voice = voice_of(voices, count, joined, i, least);
        words.failing += voice.failing;
        words.playing += voice.played && !voice.failing;
        words.another |= voice.could_try && !voice.failing;
        words.played |= voice.played && voice.failing;
    }
    return words;
}

static FailureDecision weigh_proven(const FailureWords *proven, const FailureWords *vouched) {
    FailureDecision decision = failure_rule(proven);
    if (decision != FAILURE_ENDS || vouched->failing > 0)
        return decision;
    if (vouched->playing > 0 || vouched->another)
        return FAILURE_GOES_ON;
    return proven->failing > 1 ? FAILURE_ENDS : FAILURE_PAUSES;
}

FailureDecision failure_weigh_voices(const Voice *voices, int count) {
    Joined joined;
    voices_join(voices, count, &joined);
    FailureWords all = words_of(voices, count, &joined, LEVEL_UNPROVEN),
                 proven = words_of(voices, count, &joined, LEVEL_RECORDED),
                 vouched = words_of(voices, count, &joined, LEVEL_VOUCHED);
    if (proven.failing > 0)
        return weigh_proven(&proven, &vouched);
    if (proven.playing > 0 || proven.another)
        return FAILURE_GOES_ON;
    return failure_rule(&all) == FAILURE_GOES_ON ? FAILURE_GOES_ON : FAILURE_PAUSES;
}
