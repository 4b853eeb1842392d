// Reruns: batches of games at fixed nodes or depth, with one thread on each side, that are played
// again on another machine. Such games repeat, so both machines must send the same moves.
//
// Which batches: an owner's first ten, then one with probability 1/n after n that were the same in
// a row, and from zero again after a bad one (the adaptive replication of BOINC), by random
// numbers of the server. A maintainer who re-tests a machine makes its owner begin anew, and the
// batches of such owners are played again first. A rerun is a task like any other, of one batch:
// its machine is not told. It comes after the work of tests, but for a part of the claims (the
// setting `rerun_percent`).
// Its games are stored and credited, and they do not count. It goes on after the verdict of its
// test, since the last batches may be those that were made up.
//
// If the second machine differs, a third of the class of the first settles it: with the first,
// then the second is alone, or its class plays otherwise, which names the patch; with the second,
// then the first is alone; with neither, then the games do not repeat. A machine that is alone
// stands on the page of suspects. Nothing is excluded by itself.
#pragma once

#include "server/ledger/task.h"

// So long a batch waits to be played again, also after the verdict of its test. It then stays as it
// is: there may be no other machine.
enum { RERUN_DAYS = 7 };
double rerun_since(const Turn *turn);

// Orders a rerun of batch `seq` of a task, which has just been counted, perhaps.
bool rerun_order(Turn *turn, const TaskRow *row, int64_t seq, Error *err);

// Whether this claim gets a rerun before the work of tests.
bool rerun_goes_first(Turn *turn);

typedef struct RerunAsk {
    int64_t test, worker;
    const char *owner;
    OwnerLevel level;
    bool alone; // no other owner is active, so machines of one owner check each other
} RerunAsk;
typedef struct Rerun {
    int64_t batch; // 0: none
    int64_t first_pair;
} Rerun;
// Only if the setting is not 0; then none are ordered, either.
Rerun rerun_find(Turn *turn, const RerunAsk *ask);

// 409 `no_reruns` if the setting is 0.
bool rerun_is_on(Db *db, Error *err);

// Compares the games of a rerun, `text`, with those of the machines before, and notes in the batch
// what it found. Reads only, so a reader calls it. Does nothing for other tasks, and for games that
// were dropped meanwhile.
void rerun_compare(Turn *reader, const char *data, Batch *batch, int64_t pairs, const char *text,
                   size_t size);
// After the batch of a rerun is stored: settles what it can settle.
bool rerun_note(Turn *turn, const Batch *batch, const TaskRow *row, Error *err);
