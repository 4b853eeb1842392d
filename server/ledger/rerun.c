// See rerun.h.
#include "server/ledger/rerun.h"

#include <string.h>

#include "server/common/hash.h"
#include "server/common/machine_class.h"
#include "server/db/settings.h"
#include "sql/ledger.h"

// Rules of the system: how many batches of an owner are all played again, and how many may wait at
// one time.
enum { FIRST_BATCHES = 10, WAITING_MOST = 10 };

double rerun_since(const Turn *turn) {
    return turn->now - RERUN_DAYS * 86400.0;
}

bool rerun_is_on(Db *db, Error *err) {
    return setting_whole(db, SETTING_RERUN_PERCENT) > 0 ||
           error_set(err, 409, "no_reruns",
                     "no games are played again: the operator's setting rerun_percent is 0");
}

// True with probability part/all.
static bool chance(int64_t part, int64_t all) {
    uint64_t number;
    random_bytes(&number, sizeof number);
    return number % (uint64_t)all < (uint64_t)part;
}

static int64_t percent_of(Turn *turn) {
    return setting_whole(turn->db, SETTING_RERUN_PERCENT);
}

bool rerun_goes_first(Turn *turn) {
    return chance(percent_of(turn), 100);
}

static char *class_of(Turn *turn, int64_t worker) {
    SqlRerunMachine row scope(sql_row_free) = {0};
    bool there = sql_rerun_machine(turn->db, &row, worker);
    return machine_class(there && row.arch ? row.arch : "", there && row.isa ? row.isa : "",
                         there && row.cpu ? row.cpu : "",
                         there && row.compiler ? row.compiler : "");
}

bool rerun_order(Turn *turn, const TaskRow *row, int64_t seq, Error *err) {
    SqlRerunOrderScene scene = {0};
    if (percent_of(turn) == 0 ||
        !sql_rerun_order_scene(turn->db, &scene, .test = row->test.id, .owner = row->owner,
                               .since = rerun_since(turn)) ||
        scene.waiting >= WAITING_MOST ||
        (scene.batches >= FIRST_BATCHES && scene.good > 0 && !chance(1, scene.good)))
        return true;
    char *class scope(free_ptr) = class_of(turn, row->worker);
    return sql_rerun_order(turn->db, err, .task = row->id, .seq = seq, .class = class,
                           .now = turn->now) &&
           sql_rerun_run_note(turn->db, err, .owner = row->owner, .batches = 1, .good = 0);
}

Rerun rerun_find(Turn *turn, const RerunAsk *ask) {
    SqlRerunFind row = {0};
    if (percent_of(turn) == 0)
        return (Rerun){0};
    char *class scope(free_ptr) = class_of(turn, ask->worker);
    sql_rerun_find(turn->db, &row, .test = ask->test, .worker = ask->worker, .owner = ask->owner,
                   .level = ask->level, .alone = ask->alone, .class = class,
                   .since = rerun_since(turn));
    return (Rerun){row.batch_id, row.first_pair};
}

bool ledger_reruns_end(Turn *turn, int64_t test, Error *err) {
    return sql_rerun_end(turn->db, err, test) &&
           sql_rerun_tasks_stop(turn->db, err, .test = test, .now = turn->now);
}

// ---- what was found -----------------------------------------------------------------------------

static bool good(Turn *turn, const char *owner, Error *err) {
    return sql_rerun_run_note(turn->db, err, .owner = owner, .batches = 0, .good = 1);
}

static bool bad(Turn *turn, const char *owner, Error *err) {
    return sql_rerun_run_note(turn->db, err, .owner = owner, .batches = 0, .good = -1);
}

static bool second_came(Turn *turn, const Batch *batch, const SqlRerunState *state, Error *err) {
    bool same = batch->rerun.same_first;
    char *class scope(free_ptr) = class_of(turn, batch->worker);
    if (!sql_rerun_second(turn->db, err, .batch = state->batch_id, .state = same ? "same" : "third",
                          .class = class, .difference = batch->rerun.difference,
                          .task = batch->task, .now = turn->now))
        return false;
    if (same)
        return good(turn, state->owner, err);
    ledger_event(turn, "rerun", 0, batch->worker, state->test_id,
                 "machines %lld and %lld differ in the games from pair %lld: %s. A third machine "
                 "of the class of the first will settle it",
                 (long long)state->worker_id, (long long)batch->worker,
                 (long long)state->first_pair, batch->rerun.difference);
    turn_wake(turn);
    return true;
}

// Two of a class that agree are right about that class; whether the second is wrong, too, only its
// own class could say.
static bool third_came(Turn *turn, const Batch *batch, const SqlRerunState *state, Error *err) {
    bool of_class = strcmp(state->class, state->second_class) == 0;
    const char *found = batch->rerun.same_first    ? (of_class ? "second" : "patch")
                        : batch->rerun.same_second ? "first"
                                                   : "patch";
    int64_t wrong = strcmp(found, "first") == 0    ? state->worker_id
                    : strcmp(found, "second") == 0 ? state->second_worker
                                                   : 0;
    if (!sql_rerun_settle(turn->db, err, .batch = state->batch_id, .state = found,
                          .now = turn->now) ||
        (strcmp(found, "first") == 0 && !bad(turn, state->owner, err)) ||
        (strcmp(found, "second") == 0 && !bad(turn, state->second_owner, err)) ||
        (batch->rerun.same_first && !good(turn, state->owner, err)))
        return false;
    if (wrong)
        ledger_event(turn, "rerun", 0, wrong, state->test_id,
                     "machine %lld is alone with its games from pair %lld: %s", (long long)wrong,
                     (long long)state->first_pair, state->difference);
    else
        ledger_event(
            turn, "rerun", 0, 0, state->test_id,
            "the games from pair %lld differ between machines, and no machine is alone: %s",
            (long long)state->first_pair, state->difference);
    return true;
}

// A machine whose task expired may send its games late, when others have answered.
bool rerun_note(Turn *turn, const Batch *batch, const TaskRow *row, Error *err) {
    SqlRerunState state scope(sql_row_free) = {0};
    if (!batch->rerun.compared || row->blocked || !sql_rerun_state(turn->db, &state, row->id))
        return true;
    if (strcmp(state.state, "due") == 0)
        return second_came(turn, batch, &state, err);
    char *class scope(free_ptr) = class_of(turn, batch->worker);
    bool is_third = strcmp(state.state, "third") == 0 && state.second_worker != batch->worker &&
                    strcmp(class, state.class) == 0;
    return !is_third || third_came(turn, batch, &state, err);
}
