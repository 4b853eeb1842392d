// Decides what the reports of several owners about a test mean together. An owner is a user, or the
// network of machines without an account. One owner may have many machines, and all of them may be
// broken in the same way. So the rules count owners, not machines. An account costs nothing, so
// owners whose machines share a network, or that one machine has served, count as one. Proven
// owners outweigh all others, and vouched ones recorded ones (trust.h). Pure.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/ledger/trust.h"

enum { VOICE_OWNER_MAX = 64, VOICE_NETWORK_MAX = 64 };

// ---- bench counts of a commit that has none

typedef struct BenchVote {
    int64_t nodes, worker;
    char owner[VOICE_OWNER_MAX], network[VOICE_NETWORK_MAX];
    OwnerLevel level;
} BenchVote;
enum { BENCH_VOTES_MAX = 256 };

typedef enum {
    BENCH_WAIT,      // a machine of another owner may still confirm it or decide
    BENCH_ESTABLISH, // the count is `nodes`
    BENCH_TIED,      // the owners differ, and there is no third owner to decide
} BenchVerdict;

typedef struct BenchDecision {
    BenchVerdict verdict;
    int64_t nodes; // the count that most owners reported
} BenchDecision;

// One vote for each machine, at least one. `another`: an owner that has not voted is active. A
// count of at least two owners wins against any count that fewer owners report. A single owner is
// believed if no other owner is active. If the machines of this owner differ, at least two of them
// must outnumber the others.
BenchDecision bench_rule(const BenchVote *votes, int count, bool another);

// Other facts that matter when votes are weighed.
typedef struct BenchScene {
    bool another;                         // an owner that has not voted is active
    bool another_proven, another_vouched; // such an owner of that level is active
} BenchScene;

// The same with levels. If a proven owner has voted, votes of unproven ones do not count. If none
// has, unproven owners establish nothing. Recorded owners establish a count if there are two of
// them, and no vouched owner contradicts or could be asked.
BenchDecision bench_weigh(const BenchVote *votes, int count, const BenchScene *scene);

// ---- failures of one kind and side

// The facts about one owner in one network. A machine may change its owner: owners for which the
// same machines speak have the same `first`, the owner to which their first task was dealt.
typedef struct Voice {
    char owner[VOICE_OWNER_MAX], network[VOICE_NETWORK_MAX], first[VOICE_OWNER_MAX];
    OwnerLevel level;
    bool failing;   // it reports the failure
    bool played;    // it has sent results of this test
    bool could_try; // a machine of it is active and has reported no failure
} Voice;
enum { VOICES_MAX = BENCH_VOTES_MAX };

typedef struct FailureWords {
    int64_t failing; // owners that report it, at least 1
    int64_t playing; // other owners whose machines have sent results
    bool another;    // an owner that reports nothing is active and could try
    bool played;     // one of the failing owners had sent results before
} FailureWords;

typedef enum {
    FAILURE_GOES_ON, // the test continues with owners that can play it or may still try
    FAILURE_ENDS,    // the test ends
    // The test is paused: its only owner could play it and no longer can, or no vouched owner, and
    // no two recorded ones, confirm the failure.
    FAILURE_PAUSES,
} FailureDecision;
// The rule for owners that are equal.
FailureDecision failure_rule(const FailureWords *words);
// The rule with levels. If a proven owner reports the failure, only such owners decide. Recorded
// ones end the test only if there are two of them, and no vouched owner plays the test or could
// try it. One recorded owner alone pauses it. If a proven owner plays the test or could try it, the
// reports of unproven ones change nothing. Otherwise those reports pause the test at most.
FailureDecision failure_weigh_voices(const Voice *voices, int count);
