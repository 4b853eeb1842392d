// A small installation in a temporary folder for tests of the ledger: tests/data/ledger/fixture.sql
// in a real database, time that the test moves, and short words for a worker's calls.
#pragma once

#include "server/common/str.h"
#include "server/ledger/ledger.h"

typedef struct LedgerKit {
    char folder[64], path[96];
    Db *db;
    Turn turn; // turn.now is the test's clock
    Error err;
    int64_t keys; // Idempotency-Keys made
    bool earned;  // see kit_earn()
} LedgerKit;

// Open with a turn begun; `kit_turn` commits it and begins the next.
bool kit_open(LedgerKit *kit);
// Opens it and gives worker 1 a task of 8 pairs, 2 batches, of test 1; 0 if that fails.
int64_t kit_open_task(LedgerKit *kit);
void kit_close(LedgerKit *kit);
void kit_turn(LedgerKit *kit);
// SQL between turns: reads a number from the database, or changes the fixture.
int64_t kit_int(LedgerKit *kit, const char *sql, ...) __attribute__((format(printf, 2, 3)));
char *kit_text(LedgerKit *kit, const char *sql, ...) __attribute__((format(printf, 2, 3)));
void kit_sql(LedgerKit *kit, const char *sql, ...) __attribute__((format(printf, 2, 3)));

void kit_activate(LedgerKit *kit, int64_t test);
// Adds machines `first` to `last` with 4 cores and no account, each in a network of its own, 'nID'.
void kit_machines(LedgerKit *kit, int first, int last);
// From here on trust is public, and owners are believed as far as they have earned it: tasks are
// dealt as if all owners were vouched for, and then get the level of their owner.
void kit_earn(LedgerKit *kit);
// A claim of a worker with `cores` that holds the task `held` (0: none).
int64_t kit_claim(LedgerKit *kit, int64_t worker, int cores, int64_t held);
bool kit_heartbeat(LedgerKit *kit, int64_t task, int64_t worker, const char *phase, int64_t plies,
                   int64_t begun, TaskReply *reply);
// As if the machines of all open tasks were so slow that no batch waits for them.
void kit_let_go(LedgerKit *kit);
// A result with these outcomes. Every drawn pair (2) has two drawn games. New.
json_t *kit_result(const char *outcomes);
// The same with other members, which are JSON: {"crashes": 1}. New.
json_t *kit_result_with(const char *outcomes, const char *members);
// A batch as if its games had been replayed.
Batch kit_batch(int64_t task, int64_t worker, int64_t seq, const json_t *result);
bool kit_post(LedgerKit *kit, int64_t task, int64_t worker, int64_t seq, const char *outcomes,
              BatchReply *reply);
// Excludes batches of a machine ("all" or "flagged"), and undoes its latest exclusion in the test.
bool kit_exclude(LedgerKit *kit, int64_t test, int64_t worker, const char *which,
                 Excluded *changed);
bool kit_include(LedgerKit *kit, int64_t test, int64_t worker, Excluded *changed);
// Whether test 1 ended with this result ("": it is open).
bool kit_result_is(LedgerKit *kit, const char *word);
// The number of differences that `server check` finds. They are printed.
int kit_check(LedgerKit *kit);
