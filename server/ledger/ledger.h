// The ledger: the only writer of tasks, batches, benches and the states of tests. Everything here
// runs on the loop thread inside the turn's transaction, in the savepoint of its request; a false
// undoes that savepoint, so nothing is ever half done.
//
// Pairs of a test are numbered 0, 1, 2, … and dealt in whole batches of B pairs. At every moment
// each pair below tests.next_pair is exactly one of: counted, in an open task, in returned_pairs,
// or spent (reported by a batch that does not count). Nothing counts twice, nothing vanishes.
//
// No HTTP here: server/routes translates.
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "server/common/error.h"
#include "server/db/turn.h"
#include "server/ledger/event.h"
#include "server/ledger/scheduler.h"

// What a machine may send at most: a batch's games (compressed), and the report of a fault (expanded).
enum { GAMES_MAX = 8 << 20, FAULT_REPORT_MAX = 256 << 10, FAILURE_LOG_MAX = 64 << 10 };
// How long a claim may wait for work.
enum { CLAIM_WAIT_MAX_S = 50 };

// ---- the states of a test
// ------------------------------------------------------------------------ pending → active ⇄
// paused → finished. False: 404 `no_such_test` or 409 `wrong_state`. Each writes its event,
// publishes "test" and, where work appears, wakes those who wait. `user` is who did it.

// Approves: `hash` covers everything that will run.
bool ledger_test_activate(Turn *turn, int64_t test, int64_t user, const char *hash, Error *err);
// Takes approval back: pending again; its open tasks end, their pairs go back.
bool ledger_test_withdraw(Turn *turn, int64_t test, int64_t user, const char *why, Error *err);
bool ledger_test_pause(Turn *turn, int64_t test, int64_t user, Error *err);
// Also a test that machines failed: it goes on with all that it had.
bool ledger_test_resume(Turn *turn, int64_t test, int64_t user, Error *err);
// A person ends it; also from pending.
bool ledger_test_stop(Turn *turn, int64_t test, int64_t user, const char *reason, Error *err);
// The end itself: `result` as in the schema, `event` the type of the line in the event log.
bool ledger_test_finish(Turn *turn, int64_t test, int64_t user, const char *result,
                        const char *event, const char *reason, Error *err);

// ---- a worker's calls ---------------------------------------------------------------------------

enum { LEDGER_HOLDING_MAX = 8 };

typedef struct Claim {
    int64_t worker;
    int cores, memory_mib;
    json_t *speeds; // engine name → nodes/s of a slot; borrowed
    int64_t holding[LEDGER_HOLDING_MAX];
    int holding_count;
    const char *key; // Idempotency-Key
    const char *request_hash;
} Claim;

// Seconds for which a machine gets no task, because several in a row ended without a result.
double ledger_rest_s(Turn *turn, int64_t worker);
// Once a claim: notes the offer and gives back what the worker no longer holds. 429 `wait` for a
// machine that rests.
bool ledger_claim_begin(Turn *turn, const Claim *claim, Error *err);
// Deals a task, or returns 0 where there is no work. The same key again: the same task. -1: error.
int64_t ledger_claim(Turn *turn, const Claim *claim, Error *err);

// What every message about a task is answered with.
typedef struct TaskReply {
    bool continues;
    const char *why; // "" while it goes on, else a word of API.md
    double lease_s;
} TaskReply;

typedef struct Heartbeat {
    int64_t task, worker, plies, started_pairs;
    const char *phase;
} Heartbeat;
bool ledger_heartbeat(Turn *turn, const Heartbeat *heartbeat, TaskReply *reply, Error *err);

// What the machine was like meanwhile; a negative number was not told.
typedef struct Load {
    double delay,
        steal;       // shares: of thinking time without a CPU, of CPU time taken by a hypervisor
    double swap_mib; // swapped in
    double speed, speed_before; // nodes/s in play: of this batch, of the task's first
} Load;
extern const Load LOAD_UNTOLD;

// Beyond these a batch is flagged; it counts as any other.
typedef struct FlagLimits {
    double busy, slow, swap_mib;
} FlagLimits;

// The flags that a batch deserves: of "busy", "slow" and "swap", with blanks between. A negative
// limit flags nothing.
enum { FLAGS_MAX = 16 };
void flags_judge(double busy, const Load *load, const FlagLimits *limits, char flags[FLAGS_MAX]);

typedef struct Batch {
    int64_t task, worker, seq;
    const char *outcomes;
    int64_t wins, losses, draws, crashes, time_losses;
    const char *tc;
    double speed, busy;
    const char *games_sha256; // NULL: none
    Load load;
} Batch;

typedef struct BatchReply {
    bool repeat, counted;
    TaskReply task;
    int64_t test, games, next_seq;
    char state[12];
    double llr;
} BatchReply;
bool ledger_batch(Turn *turn, const Batch *batch, BatchReply *reply, Error *err);
// What outcomes and counts must fulfil by themselves (422 `bad_counts`).
bool batch_check(const Batch *batch, int batch_pairs, Error *err);

// Whether the task awaits games of this batch, or has just these already (*there), and how many
// pairs; reads only, so a reader may ask. 409 `seq_gap`: of another batch; 409 `task_over`: the
// task has ended, and did not merely run out of time.
bool ledger_games_expected(Turn *turn, int64_t task, int64_t worker, int64_t seq, const char *sha,
                           int *batch_pairs, bool *there, Error *err);
// The games of a batch lie in the blob store: `sha`, `size`.
bool ledger_games(Turn *turn, int64_t task, int64_t worker, int64_t seq, const char *sha,
                  int64_t size, Error *err);

// What a worker or, where it has one, its user has played so far.
typedef struct Credit {
    int64_t games;
    char user[40]; // "" for a machine without an account
} Credit;
Credit ledger_credit(Db *db, int64_t worker);

// A game that an engine lost by its own fault.
enum {
    FAULT_REPORT_OF_TASK = 10,
    FAULT_REPORT_OF_TEST = 200,
    FAULT_REPORT_BYTES_OF_TEST = 8 << 20
};
// Of the machines of one owner, in one test.
enum { FAULT_REPORT_OF_OWNER = 50, FAULT_REPORT_BYTES_OF_OWNER = 2 << 20 };
typedef struct FaultReport {
    int64_t task, worker, seq, pair, game;
    const char *side, *end, *reason, *sha256;
    bool overloaded;
    const void *content; // zstd
    size_t content_size;
} FaultReport;
// Kept, or only counted where the test has enough, of all or of this owner. 409
// `fault_unfounded` where its batch has not come or counts no more games that ended so. Again
// with the same sha256: nothing happens; with another: 409 `fault_conflict`.
bool ledger_fault_report(Turn *turn, const FaultReport *fault_report, Error *err);

typedef struct Failure {
    int64_t task, worker, bench, started_pairs; // bench 0: none
    const char *kind, *side, *message, *log;
} Failure;
bool ledger_fail(Turn *turn, const Failure *failure, Error *err);
bool ledger_release(Turn *turn, int64_t task, int64_t worker, int64_t started_pairs, Error *err);
// `established`: the commit's count, 0 while it is not settled.
bool ledger_bench(Turn *turn, int64_t task, int64_t worker, const char *side, int64_t nodes,
                  int64_t *established, TaskReply *reply, Error *err);

// ---- what people do to results and machines -----------------------------------------------------

// Whole windows of one machine in one test: all of its batches, or the flagged ones, present and to
// come. 409 `nothing_to_exclude` where it has none that count.
typedef struct Exclusion {
    int64_t test, worker, user; // user 0: the server, for a reason that does not depend on results
    const char *which, *reason; // "flagged" or "all"
} Exclusion;
typedef struct Excluded {
    int64_t batches, pairs; // that changed sides
} Excluded;
bool ledger_exclude(Turn *turn, const Exclusion *exclusion, Excluded *changed, Error *err);
// Takes back all exclusions of the machine in the test; 409 `not_excluded` where there are none.
bool ledger_include(Turn *turn, int64_t test, int64_t worker, int64_t user, Excluded *changed,
                    Error *err);
// A blocked machine gets no work; what it still sends is stored and not counted.
bool ledger_block(Turn *turn, int64_t worker, bool block, int64_t user, const char *reason,
                  Error *err);

// What playing the games of a batch over again found; `fault` "": all is well. With a fault, the
// batches of its machine are excluded from the test: games that cannot be say nothing of strength.
// `left_out`: why they were not played after all; "": they were.
bool ledger_replayed(Turn *turn, int64_t batch, int64_t games, const char *fault,
                     const char *left_out, Error *err);
// At start: batches during whose replay the server ended are left out from now on.
bool ledger_replays_resume(Db *db, double now, Error *err);

// Sets the count of a commit, whatever machines or submissions said of it; open tests on it go on
// with that, machines that failed for the old one included. `test` is only for the event; 0: none.
bool ledger_bench_correct(Turn *turn, int64_t engine, const char *sha, int64_t nodes, int64_t user,
                          int64_t test, Error *err);
// The same of the side ("new" or "base") of a test.
bool ledger_bench_correct_side(Turn *turn, int64_t test, const char *side, int64_t nodes,
                               int64_t user, Error *err);

// ---- time ---------------------------------------------------------------------------------------

// Ends leases that ran out; call about once a second.
void ledger_expire(Turn *turn);
// Bench counts that waited for another owner are looked at again; call about once a second.
void ledger_settle(Turn *turn);
// Leases stand still while the server is down: at start, with the time since its last turn.
bool ledger_resume(Db *db, double down_seconds, Error *err);

// ---- the books are audited ----------------------------------------------------------------------

// Replays the counted batches of every test and compares totals, LLR, stop-rule state and verdict,
// and sees that every pair stands where it should, once. Prints a line a difference and a summary
// to `out`; returns how many differences there were.
int ledger_check(Db *db, FILE *out);
