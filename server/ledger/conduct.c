// See conduct.h.
#include "server/ledger/conduct.h"

#include "sql/ledger.h"

// More faults of one kind in a task, or a greater part of the games of a test that has so many, are
// an event. Rules of the system, as those by which pages mark machines.
enum { TASK_FAULTS_MOST = 3, TEST_GAMES_LEAST = 400, TEST_FAULTS_PERCENT = 1 };

typedef struct Fault {
    const char *ending, *words;
    int64_t batch, task, test; // games that ended so
} Fault;

// Counts only grow, so a task passes the limit once.
static void note_task(Turn *turn, const TaskRow *row, const Fault *fault, int64_t games) {
    if (fault->task > TASK_FAULTS_MOST && fault->task - fault->batch <= TASK_FAULTS_MOST)
        ledger_event(turn, "faults", 0, row->worker, row->test.id,
                     "task %lld: %lld of %lld games were lost %s, more than %d in a task",
                     (long long)row->id, (long long)fault->task, (long long)games, fault->words,
                     TASK_FAULTS_MOST);
}

static bool note_test(Turn *turn, const TaskRow *row, const Fault *fault, int64_t games,
                      Error *err) {
    if (games < TEST_GAMES_LEAST || 100 * fault->test <= TEST_FAULTS_PERCENT * games)
        return true;
    if (!sql_ledger_fault_alarm(turn->db, err, .test = row->test.id, .ending = fault->ending,
                                .now = turn->now))
        return false;
    if (db_changes(turn->db))
        ledger_event(turn, "faults", 0, 0, row->test.id,
                     "%lld of %lld games of this test were lost %s, more than %d %%",
                     (long long)fault->test, (long long)games, fault->words, TEST_FAULTS_PERCENT);
    return true;
}

static bool note_faults(Turn *turn, const Batch *batch, const TaskRow *row, Error *err) {
    SqlLedgerFaults sums = {0};
    if (!sql_ledger_faults(turn->db, &sums, .task = row->id, .seq = batch->seq))
        return true;
    const Fault faults[] = {
        {"crash", "by a crash, a stall or an illegal move", sums.crashes, sums.task_crashes,
         sums.test_crashes},
        {"time", "on time", sums.time_losses, sums.task_time_losses, sums.test_time_losses},
        {"ponder", "by computing in the opponent's time", sums.ponders, sums.task_ponders,
         sums.test_ponders},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (!faults[i].batch)
            continue;
        note_task(turn, row, &faults[i], sums.task_games);
        if (!note_test(turn, row, &faults[i], sums.test_games, err))
            return false;
    }
    return true;
}

static bool has_faults(const Batch *batch) {
    static const char *const names[] = {"crashes", "time_losses", "ponders", "ponders_against"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_integer_value(json_object_get(batch->result, names[i])) > 0)
            return true;
    return false;
}

bool conduct_note(Turn *turn, const Batch *batch, const TaskRow *row, Error *err) {
    return sql_ledger_conduct_add(turn->db, err, .task = batch->task, .seq = batch->seq) &&
           sql_ledger_test_conduct_add(turn->db, err, .task = batch->task, .seq = batch->seq) &&
           (!has_faults(batch) || note_faults(turn, batch, row, err));
}
