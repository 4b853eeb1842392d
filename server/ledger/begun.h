// Batches that were begun and not reported, and what follows. Who drops the batches that went badly
// changes the result of a test as surely as who invents games, so dropping has its price.
//
// A batch begins when its task is dealt, or when the task's previous batch arrives (places.h). It
// is dropped if it was not reported when its task
// - expired: also if its machine never said that a game had begun;
// - was given back or failed, and the machine had begun games of it;
// - was given back without any, but late: when the batch had had time to be played in part;
// - was given back without any, and the same machine asks for work within a quarter of an hour.
// Else a machine could look at its games before it says that there are none. One that stops after
// its batch gives the rest back at once and stays away, so it drops nothing.
// What comes after its task has ended was dropped as well, because it does not count. Nothing is
// dropped by the server's own acts: the end or the pause of a test, or a block. A machine that
// fails before it plays drops nothing, either: it gets no more of the test, and its report is on
// the page.
//
// An owner that dropped more than a twentieth of at least 40 batches that it began in 30 days, and
// three times the share of the fleet, loses its record and earns none for 30 days, and stands on
// the page of suspects. What was dealt before keeps its level. The share of the fleet is the median
// of the other owners that were vouched for: so no crowd of owners can raise it.
#pragma once

#include "server/ledger/trust.h"

typedef struct BegunTask {
    int64_t id, test, worker;
    const char *owner; // borrowed
    OwnerLevel level;  // that it had when the task was dealt
    int64_t first_pair, pair_count, batch_pairs;
    int64_t next_seq;      // batches reported
    int64_t started_pairs; // as the machine said
} BegunTask;

// Pairs from the task's first one that belong to batches of which a game was started.
int64_t begun_pairs(const BegunTask *task);
// The same with the batch that begins when the one before arrives, started or not. Its pairs go to
// another owner.
int64_t begun_pairs_and_next(const BegunTask *task);

// After batch `seq` was stored.
bool begun_reported(Turn *turn, const BegunTask *task, int64_t seq, Error *err);
// After a task ended by its machine. `had_time`: the batch under way was dropped even if no game of
// it was started.
bool begun_ended(Turn *turn, const BegunTask *task, bool had_time, Error *err);
// When a machine asks for work, after the tasks that it no longer holds have ended.
bool begun_claims(Turn *turn, int64_t worker, Error *err);
