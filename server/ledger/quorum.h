// What the words of several owners about a test amount to. An owner is a user, or the network of
// machines without account: one owner may have many machines, and many of them may be broken in the
// same way, so owners count and machines do not. Accounts cost nothing, so owners whose machines
// share a network count as one, and owners with a record outweigh all others. Pure.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { VOICE_OWNER_MAX = 64, VOICE_NETWORK_MAX = 64 };

// ---- bench counts of a commit that has none

typedef struct BenchVote {
    int64_t nodes, worker;
    char owner[VOICE_OWNER_MAX], network[VOICE_NETWORK_MAX];
    bool proven; // its owner has a record
} BenchVote;
enum { BENCH_VOTES_MAX = 256 };

typedef enum {
    BENCH_WAIT,      // a machine of another owner may yet confirm or decide
    BENCH_ESTABLISH, // `nodes` it is
    BENCH_TIED,      // the owners differ, and no third owner is there to decide
} BenchVerdict;

typedef struct BenchDecision {
    BenchVerdict verdict;
    int64_t nodes; // the count with most owners behind it
} BenchDecision;

// One vote a machine, at least one. `another`: an owner who has not said a word is active.
// The count of at least two owners stands against any that fewer say. An owner alone is believed
// when no other owner is there; where its own machines differ, at least two of them must outnumber the
// others.
BenchDecision bench_rule(const BenchVote *votes, int count, bool another);

// What else is known when votes are weighed.
typedef struct BenchScene {
    bool another;        // an owner who has not said a word is active
    bool another_proven; // one with a record is
    bool records;        // the installation knows owners with a record
} BenchScene;

// The same with records: where an owner with one has spoken, the others' votes do not count. Where
// none has, those without establish nothing in an installation that knows records.
BenchDecision bench_weigh(const BenchVote *votes, int count, const BenchScene *scene);

// ---- failures of one kind and side

// What is known of one owner in one network.
typedef struct Voice {
    char owner[VOICE_OWNER_MAX], network[VOICE_NETWORK_MAX];
    bool proven;
    bool failing;   // it reports the failure
    bool played;    // it has sent results of this test
    bool could_try; // a machine of it is active and has reported no failure
} Voice;
enum { VOICES_MAX = BENCH_VOTES_MAX };

typedef struct FailureWords {
    int64_t failing; // owners who report it, at least 1
    int64_t playing; // other owners whose machines have sent results
    bool another;    // an owner who reports nothing is active and could try
    bool played;     // one of those who fail had sent results before
} FailureWords;

typedef enum {
    FAILURE_GOES_ON, // with those who can play it, or who may yet try
    FAILURE_ENDS,    // the test
    FAILURE_PAUSES, // one owner could play it and no longer can, or no owner with a record confirms
                    // it
} FailureDecision;
// Where owners are equals.
FailureDecision failure_rule(const FailureWords *words);
// With records: where an owner with one reports the failure, such owners alone decide. Where one
// plays on, or is there to try, the others' reports change nothing; else they pause the test at
// most.
FailureDecision failure_weigh_voices(const Voice *voices, int count);
