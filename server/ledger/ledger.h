// The ledger: the only writer of tasks, batches, benches and the states of tests. All functions run
// on the loop thread inside the turn's transaction, in the savepoint of their request. If a
// function returns false, the savepoint is undone, so no change is half done.
//
// The pairs of a test are numbered 0, 1, 2, … and dealt in whole batches of B pairs. At every
// moment, each pair below tests.next_pair is exactly one of these: counted, in a batch that waits,
// in an open task, in returned_pairs, or spent (reported by a batch that does not count). So no
// pair counts twice, and none is lost.
//
// There is no HTTP here: server/routes translates.
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "server/common/error.h"
#include "server/common/said.h"
#include "server/db/turn.h"
#include "server/ledger/event.h"
#include "server/ledger/game_print.h"
#include "server/ledger/scheduler.h"

// Limits of what a machine sends: the games of a batch (compressed), a fault report (expanded), and
// the log of a failure.
enum { GAMES_MAX = 8 << 20, FAULT_REPORT_MAX = 256 << 10, FAILURE_LOG_MAX = 64 << 10 };
// A machine gets a test again so many seconds after it failed the test for a reason that may pass
// (fetching, the machine itself). A rule of the system, as all limits of the ledger that stand in
// constants: machines that operators could let try more often would burn tasks.
enum { FAILURE_RETRY_S = 3600 };
// The longest time that a claim waits for work.
enum { CLAIM_WAIT_MAX_S = 50 };

// ---- the states of a test -----------------------------------------------------------------------
//
// pending → active ⇄ paused → finished. False: 404 `no_such_test` or 409 `wrong_state`. Each
// function writes its event and publishes "test". If there is new work, it wakes the waiting
// claims. `user` is the person who did it.

// Approves the test. `hash` covers everything that will run; `words` are those of the event. The
// first approval draws the seed of the order of the openings.
bool ledger_test_activate(Turn *turn, int64_t test, int64_t user, const char *hash,
                          const char *words, Error *err);
// Withdraws the approval. The test is pending again, its open tasks end, and their pairs return.
bool ledger_test_withdraw(Turn *turn, int64_t test, int64_t user, const char *why, Error *err);
// The approval stays after a change of what it covers, by a person who could have given it. `hash`
// covers what will run now. `restart`: open tasks end, as they play what was approved before.
bool ledger_test_widen(Turn *turn, int64_t test, int64_t user, const char *hash, bool restart,
                       const char *why, Error *err);
bool ledger_test_pause(Turn *turn, int64_t test, int64_t user, Error *err);
// Also resumes a test that machines failed. The test keeps all its results.
bool ledger_test_resume(Turn *turn, int64_t test, int64_t user, Error *err);
// A test with a verdict that its counted batches no longer make, because some were excluded or
// included, goes on: its pairs that were not played are dealt again, and batches that waited count.
// If its batches make another verdict, it ends with that one. 409 `wrong_state` if they make the
// same.
bool ledger_test_reopen(Turn *turn, int64_t test, int64_t user, const char *reason, Error *err);
// A person stops the test, which may still be pending.
bool ledger_test_stop(Turn *turn, int64_t test, int64_t user, const char *reason, Error *err);
// Ends a test. `result` as in the schema; `event` is the type of the line in the event log.
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
    json_t *units; // names of the units that the worker can play; NULL: pairs alone; borrowed
} Claim;

// Seconds for which the machine gets no task, because several of its tasks in a row had no result.
double ledger_rest_s(Turn *turn, int64_t worker);
// Once for each claim: notes the offer, and ends the tasks that the worker does not hold any more.
// 429 `wait` if the machine must wait.
bool ledger_claim_begin(Turn *turn, const Claim *claim, Error *err);
// Deals a task. 0: there is no work. -1: an error. A repeat with the same key gets the same task.
int64_t ledger_claim(Turn *turn, const Claim *claim, Error *err);

// The part of the reply that is the same for all messages about a task.
typedef struct TaskReply {
    bool continues;
    const char *why; // "" while it continues, else a word of API.md
    double lease_s;
} TaskReply;

typedef struct Heartbeat {
    int64_t task, worker, plies, started_pairs;
    const char *phase;
} Heartbeat;
bool ledger_heartbeat(Turn *turn, const Heartbeat *heartbeat, TaskReply *reply, Error *err);

// The load of the machine during the batch. NAN: not reported.
typedef struct Load {
    double delay;               // share of thinking time without a CPU
    double steal;               // share of CPU time taken by a hypervisor
    double swap_mib;            // swapped in
    double speed, speed_before; // nodes/s in play: of this batch, of the task's first
    double rest_new, rest_base; // CPU seconds of a side while the other was to move
} Load;
extern const Load LOAD_UNKNOWN;

// A batch above one of these limits is flagged. It counts like any other batch.
typedef struct FlagLimits {
    double busy, slow, swap_mib;
} FlagLimits;

// The flags of a batch: "busy", "slow" and "swap", separated by blanks. A limit that is NAN or
// negative is never exceeded.
enum { FLAGS_MAX = 16 };
void flags_judge(double busy, const Load *load, const FlagLimits *limits, char flags[FLAGS_MAX]);

typedef struct Batch {
    int64_t task, worker, seq;
    const json_t *result; // of the test's workload; borrowed
    const char *tc;
    double speed, busy;
    int64_t thought;                    // ms that both sides thought in all its games
    const char *games_sha256;           // NULL: none
    const char *public_key, *signature; // NULL: batches of tests are not signed
    int64_t key;                        // from ledger_batch_signed(); 0: none
    bool replayed;     // ledger_batch_replay() found that these games can have been played
    GamePrints prints; // of these games, from the replay
    Load load;
    struct {
        bool compared, same_first, same_second; // with the games of the machines before
        char difference[160];                   // from the first, in words
    } rerun;                                    // see rerun.h
    bool has_said;
    Said said[2]; // of the new side and the base
} Batch;
// Reads the member `said` of a batch; NULL and null: not counted. False: 422 `bad_request`.
bool said_read(const json_t *json, Batch *batch, Error *err);

typedef struct BatchReply {
    bool repeat, counted;
    const char *uncounted; // why not; "" or a word of API.md
    TaskReply task;
    int64_t test, units, next_seq; // `units` are counted
    char state[12];
    char summary[200]; // of the test's results, a line for people
} BatchReply;
// Whether the machine of the task signed the batch (batch_signature.h), with a key with which it
// registered. Reads only, so a reader calls it first, for every batch that comes over the network.
// 422 `bad_signature`.
bool ledger_batch_signed(Turn *reader, Batch *batch, Error *err);
// Checks a new batch as ledger_batch() does, and replays its games (replay.h); `data` is the folder
// of the blobs and books. Reads only, so a reader calls it, before ledger_batch(). Does nothing if
// the batch is stored already or its test plays no games. False: 422 `replay_mismatch` if the games
// cannot have been played, or another error.
bool ledger_batch_replay(Turn *reader, const char *data, Batch *batch, Error *err);
// After such a `replay_mismatch`, whose message is `fault`: the task ends as failed, its machine
// gets none of the test any more, and its owner's record is lost.
bool ledger_batch_refuse(Turn *turn, const Batch *batch, const char *fault, Error *err);
// False: no counts without games, 422 `bad_request`; 409 `games_missing`: they were not uploaded.
bool ledger_batch(Turn *turn, const Batch *batch, BatchReply *reply, Error *err);

// Whether the task expects the games of this batch, or has exactly these games already (*there),
// and its number of pairs. Reads only, so a reader may call it. 409 `seq_gap`: another batch is
// next.
bool ledger_games_expected(Turn *turn, int64_t task, int64_t worker, int64_t seq, const char *sha,
                           int *batch_pairs, bool *there, Error *err);
// Notes that the games of a batch are in the blob store, as `sha` with `size` bytes.
bool ledger_games(Turn *turn, int64_t task, int64_t worker, int64_t seq, const char *sha,
                  int64_t size, Error *err);

// The games that a worker has played so far, or all workers of its user if it has one.
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
// Limits for all machines of one owner in one test.
enum { FAULT_REPORT_OF_OWNER = 50, FAULT_REPORT_BYTES_OF_OWNER = 2 << 20 };
typedef struct FaultReport {
    int64_t task, worker, seq, pair, game;
    const char *side, *end, *reason, *sha256;
    bool overloaded;
    const void *content; // zstd
    size_t content_size;
} FaultReport;
// Keeps the report, or only counts it if the test has too many of all owners or of this one. 409
// `fault_unfounded` if its batch has not arrived, or has no further game that ended so. A repeat
// with the same sha256 changes nothing; with another sha256: 409 `fault_conflict`.
bool ledger_fault_report(Turn *turn, const FaultReport *fault_report, Error *err);

typedef struct Failure {
    int64_t task, worker, bench, started_pairs; // bench 0: none
    const char *kind, *side, *message, *log;
} Failure;
bool ledger_fail(Turn *turn, const Failure *failure, Error *err);
bool ledger_release(Turn *turn, int64_t task, int64_t worker, int64_t started_pairs, Error *err);
// *established is the commit's count, 0 while it is not established.
bool ledger_bench(Turn *turn, int64_t task, int64_t worker, const char *side, int64_t nodes,
                  int64_t *established, TaskReply *reply, Error *err);

// Keeps the list of options that a machine read from the engine of a side, and decides anew which
// list the commit has: that of most owners (quorum.h), as for bench counts. While owners contradict
// each other it has none; no test ends or pauses because of that. 422 `bad_request`: no list.
enum { OPTION_LISTS_MAX = 32 }; // of a commit, of unproven owners
bool ledger_option_list(Turn *turn, int64_t task, int64_t worker, const char *side,
                        const char *list, Error *err);

// ---- what people do to results and machines -----------------------------------------------------

// Excludes batches of one test: those of a task, of a machine, of an owner, or those that arrived
// in a window of time; all of them or the flagged ones, present and future.
typedef struct Exclusion {
    int64_t test, user;  // user 0: the server, for a reason that does not depend on results
    const char *kind;    // "task", "machine", "owner" or "window"
    int64_t task;        // of kind task
    int64_t worker;      // of kind machine; of kind owner: who played the test last by this machine
    double since, until; // of kind window: [since, until), Unix seconds, not in the future
    const char *which, *reason; // "flagged" or "all"
} Exclusion;
typedef struct Inclusion {
    int64_t test, exclusion, user;
    const char *reason;
} Inclusion;
typedef struct Excluded {
    int64_t batches, pairs; // of batches that counted before and do not now, or the reverse
} Excluded;
// The results of a test as they will be, counted by a reader. ledger_recount_free() takes NULL.
typedef struct Recount Recount;
void ledger_recount_free(void *recount);
// New. NULL: 404 `no_such_test`, `no_such_machine`, `no_such_task`, or 422.
Recount *ledger_exclude_prepare(Turn *reader, const Exclusion *exclusion, Error *err);
// `prepared` NULL: the turn counts. 409 `nothing_to_exclude` if no such batch counts; `changed` if
// the exclusions of the test are no longer those that the reader saw.
bool ledger_exclude(Turn *turn, const Exclusion *exclusion, Recount *prepared, Excluded *changed,
                    Error *err);
// Undoes an exclusion of the test, by its id. 409 `not_excluded` if it is not there, or `changed`.
Recount *ledger_include_prepare(Turn *reader, int64_t test, int64_t exclusion, Error *err);
bool ledger_include(Turn *turn, const Inclusion *inclusion, Recount *prepared, Excluded *changed,
                    Error *err);
// A machine whose speed in play does not fit its clock gets no further task of the test, see
// play_speed.c. This readmits it: from now on it is judged by its next tasks. 409 `not_misfit`.
bool ledger_readmit(Turn *turn, int64_t test, int64_t worker, int64_t user, Error *err);
// A blocked machine gets no work. Batches that it still sends are stored and do not count. The
// event says of what it was suspected (suspects.h). What it showed before it is unblocked is no
// more held against it.
bool ledger_block(Turn *turn, int64_t worker, bool block, int64_t user, const char *reason,
                  Error *err);
// No batch of the test is played again any more, because what it builds is harmful.
bool ledger_reruns_end(Turn *turn, int64_t test, Error *err);
// Games at fixed nodes of the machine's owner are checked from the beginning (rerun.h): its next
// ten batches are played again, before those of other owners. Games with a clock do not repeat, so
// nothing changes for them. The event says of what the machine was suspected. 409 `no_reruns` if
// the operator has switched them off.
bool ledger_retest(Turn *turn, int64_t worker, int64_t user, const char *reason, Error *err);

// A maintainer vouches for the owner of a machine, or no longer does (trust.h). 409 `wrong_state`
// if that is so already, 403 `own_account` for the maintainer's own account.
bool ledger_vouch(Turn *turn, int64_t worker, bool vouch, int64_t user, const char *reason,
                  Error *err);

// Sets the bench count of a commit, whatever machines or submissions reported. Open tests of the
// commit continue with it, and machines that failed because of the old count may play again. `test`
// is only for the event; 0: none.
bool ledger_bench_correct(Turn *turn, int64_t engine, const char *sha, int64_t nodes, int64_t user,
                          int64_t test, Error *err);
// The same for a side ("new" or "base") of a test.
bool ledger_bench_correct_side(Turn *turn, int64_t test, const char *side, int64_t nodes,
                               int64_t user, Error *err);

// ---- time ---------------------------------------------------------------------------------------

// Ends the leases that have expired. Call this about once a second.
void ledger_expire(Turn *turn);
// Counts batches that waited for a task that has ended. Call this about once a second.
void ledger_count_waiting(Turn *turn);
// Decides again about bench counts that wait for another owner. Call this about once a second.
void ledger_settle(Turn *turn);
// Goes on to exclude machines from long tests because their bench was outvoted (outvoted.h). Call
// this about once a second. *kept, NULL at first, is what was counted: ledger_recount_free().
void ledger_exclude_outvoted(Turn *turn, Recount **kept);
// Moves the leases of all open tasks by the time that their machines did not have. Call this at
// start, with the seconds since the server's last turn: below 0 if the clock was set back since.
bool ledger_move_time(Db *db, double seconds, Error *err);
// By how much Unix time was ahead of the monotonic clock at the last look.
typedef struct ClockGap {
    bool known;
    double seconds;
} ClockGap;
// Moves the leases with the clock of the server's machine if it is set, or if the machine slept.
// Call this about once a second, before ledger_expire().
void ledger_follow_clock(Db *db, ClockGap *gap, double unix_time, double monotonic);
// Counts the tests again whose results another version of their workload counted. Call this at
// start. An open test ends if its new results decide it; a verdict stays.
bool ledger_recount_outdated(Turn *turn, Error *err);

// ---- the audit ----------------------------------------------------------------------------------

// Counts the batches of every test again and compares totals, LLR, state of the stop rule and
// verdict. Also checks that every pair is in exactly one place. Prints a line for each difference
// and a summary to `out`. Returns the number of differences.
int ledger_check(Db *db, FILE *out);
// The same for the archive in the folder DATA: whether it has the games of each stored batch, and
// as many that count as the ledger says. Names the tests whose games were dropped.
int ledger_check_games(Db *db, const char *data, FILE *out);
