// What the words of several owners about a test amount to. An owner is a user, or the address of
// machines that belong to nobody: somebody may have many machines, and many of them may be broken
// in the same way, so owners count and machines do not. Pure.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// ---- bench counts of a commit that has none

typedef struct BenchVote {
    int64_t nodes, worker;
    char owner[64];
} BenchVote;
enum { BENCH_VOTES_MAX = 256 };

typedef enum {
    BENCH_WAIT,      // somebody else's machine may yet confirm or decide
    BENCH_ESTABLISH, // `nodes` it is
    BENCH_TIED,      // the owners differ, and nobody is there to decide between them
} BenchVerdict;

typedef struct BenchRuling {
    BenchVerdict verdict;
    int64_t nodes; // the count with most owners behind it
} BenchRuling;

// One vote a machine, at least one. `another`: an owner who has not said a word is active.
// The count of at least two owners stands against any that fewer say. An owner alone is believed
// when nobody else is there; where his own machines differ, at least two of them must outnumber the
// others.
BenchRuling bench_rule(const BenchVote *votes, int count, bool another);

// ---- failures of one kind and side

typedef struct FailureWords {
    int64_t failing; // owners who report it, at least 1
    int64_t playing; // other owners whose machines have sent results
    bool another;    // an owner who reports nothing is active and could try
    bool played;     // one of those who fail had sent results before
} FailureWords;

typedef enum {
    FAILURE_GOES_ON, // with those who can play it, or who may yet try
    FAILURE_ENDS,    // the test
    FAILURE_PAUSES,  // it had been played; one owner says that it no longer can be
} FailureRuling;
FailureRuling failure_rule(const FailureWords *words);
