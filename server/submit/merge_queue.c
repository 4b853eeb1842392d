// See merge_queue.h.
#include "server/submit/merge_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/background.h"
#include "server/common/clock.h"
#include "server/common/log.h"
#include "server/ledger/ledger.h"
#include "server/ledger/verdict_mark.h"
#include "server/submit/merge.h"
#include "server/submit/trial.h"
#include "sql/merges.h"

enum { LOOK_EVERY_S = 1 };

// A row that was looked at, on its way to the turn.
typedef struct Prepared {
    int64_t row;
    Merge *merge; // NULL: `err` says why
    Error err;
} Prepared;

struct MergeQueue {
    Background *thread;
    Db *db; // the thread's own
    const char *data;
    pthread_mutex_t mutex;
    Prepared *prepared; // NULL: the thread may prepare one
};

static void prepared_free(Prepared *prepared) {
    if (prepared)
        merge_free(prepared->merge);
    free(prepared);
}

// Who merges, as if there were a request.
static Viewer viewer_of(int64_t user, const char *name, bool admin) {
    Viewer viewer = {.user_id = user, .admin = admin};
    snprintf(viewer.name, sizeof viewer.name, "%s", name);
    return viewer;
}

static bool is_active(bool active, const char *name, Error *err) {
    return active || error_set(err, 403, "forbidden", "%.40s, who merged it, is blocked", name);
}

// ---- the thread ---------------------------------------------------------------------------------

static bool is_free(MergeQueue *queue) {
    pthread_mutex_lock(&queue->mutex);
    bool free = !queue->prepared;
    pthread_mutex_unlock(&queue->mutex);
    return free;
}

static void give(MergeQueue *queue, Prepared *prepared) {
    pthread_mutex_lock(&queue->mutex);
    queue->prepared = prepared;
    pthread_mutex_unlock(&queue->mutex);
}

static void prepare(MergeQueue *queue, const SqlMergeNext *row) {
    Turn turn = {.db = queue->db, .now = time_now()};
    Viewer viewer = viewer_of(row->user_id, row->user, row->admin);
    Caller caller = {.turn = &turn, .viewer = &viewer, .data = queue->data};
    Prepared *prepared = xcalloc(1, sizeof *prepared);
    prepared->row = row->id;
    prepared->merge = submit_merge_prepare(&caller, (MergeAsk){row->test_id, row->id, row->turned},
                                           &prepared->err);
    give(queue, prepared);
    turn_release(&turn);
}

// Engines take turns: the first row of the next one that has any.
static void look(void *arg) {
    MergeQueue *queue = arg;
    Error err;
    static int64_t after;
    SqlMergeNext row scope(sql_row_free) = {0};
    if (!is_free(queue) || !db_begin(queue->db, &err))
        return;
    if (sql_merge_next(queue->db, &row, after) || sql_merge_next(queue->db, &row, 0)) {
        after = row.engine_id;
        prepare(queue, &row);
    }
    db_rollback(queue->db);
}

// ---- the turn -----------------------------------------------------------------------------------

static bool end_row(Turn *turn, int64_t row, const char *state, const char *reason, Error *err) {
    return sql_merge_end(turn->db, err, .id = row, .state = state, .reason = reason,
                         .now = turn->now);
}

static bool refuse_row(Turn *turn, int64_t row, int64_t test, int64_t user, const char *why,
                       Error *err) {
    ledger_event(turn, "unmerged", user, 0, test, "not merged: %s", why);
    turn_publish(turn, "test",
                 json_pack("{s:I, s:s}", "id", (json_int_t)test, "state", "finished"));
    return end_row(turn, row, "refused", why, err);
}

// What the merge of a row came to.
static bool note_end(Turn *turn, int64_t row, const MergeEnd *end, Error *err) {
    char reason[60] = "";
    if (end->trial)
        return true;
    if (end->retest)
        snprintf(reason, sizeof reason, "tested again as test %lld", (long long)end->retest);
    return end_row(turn, row, end->retest ? "retest" : "merged", reason, err);
}

static bool is_passing(const Error *err) {
    return strcmp(err->code, "conflict") == 0 || err->status >= 500;
}

// In a savepoint. Whatever is only so at the moment is tried again.
static bool apply(MergeQueue *queue, Turn *turn, Prepared *prepared, Error *err) {
    MergeEnd end;
    SqlMergeRow row scope(sql_row_free) = {0};
    if (!sql_merge_row(turn->db, &row, prepared->row) || strcmp(row.state, "waiting") != 0)
        return true;
    Viewer viewer = viewer_of(row.user_id, row.user, row.admin);
    Caller caller = {.turn = turn, .viewer = &viewer, .data = queue->data};
    *err = prepared->err;
    bool good = prepared->merge && is_active(row.active, row.user, err) &&
                submit_merge(&caller, prepared->merge, &end, err);
    return good && note_end(turn, row.id, &end, err);
}

static void refuse(Turn *turn, int64_t id, const Error *why) {
    Error err;
    SqlMergeRow row scope(sql_row_free) = {0};
    if (is_passing(why))
        log_warn("merge %lld: %s", (long long)id, why->message);
    else if (sql_merge_row(turn->db, &row, id) &&
             !refuse_row(turn, id, row.test_id, row.user_id, why->message, &err))
        log_error("merge %lld: %s", (long long)id, err.message);
}

static void take_prepared(MergeQueue *queue, Turn *turn) {
    Error err;
    pthread_mutex_lock(&queue->mutex);
    Prepared *prepared = queue->prepared;
    pthread_mutex_unlock(&queue->mutex);
    if (!prepared)
        return;
    db_savepoint(turn->db);
    size_t events = turn->event_count;
    if (apply(queue, turn, prepared, &err)) {
        db_savepoint_keep(turn->db);
    } else {
        db_savepoint_undo(turn->db);
        turn_forget_events(turn, events);
        refuse(turn, prepared->row, &err);
    }
    give(queue, NULL);
    prepared_free(prepared);
}

static void end_trial(MergeQueue *queue, Turn *turn, const SqlMergeTrialsEnded *row) {
    Error err;
    Viewer viewer = viewer_of(row->user_id, row->user, row->admin);
    Caller caller = {.turn = turn, .viewer = &viewer, .data = queue->data};
    db_savepoint(turn->db);
    size_t events = turn->event_count;
    if (is_active(row->active, row->user, &err) &&
        verdict_unturned(turn->db, row->test_id, row->turned, &err) &&
        trial_end(&caller, row, &err) && end_row(turn, row->id, "merged", "", &err)) {
        db_savepoint_keep(turn->db);
        return;
    }
    db_savepoint_undo(turn->db);
    turn_forget_events(turn, events);
    if (strcmp(err.code, "conflict") == 0)
        sql_merge_wait_again(turn->db, &err, row->id);
    else
        refuse(turn, row->id, &err);
}

static void complete_trial(Turn *turn) {
    Error err;
    db_savepoint(turn->db);
    if (trial_complete(turn, &err)) {
        db_savepoint_keep(turn->db);
        return;
    }
    db_savepoint_undo(turn->db);
    log_error("a trial cannot end: %s", err.message);
}

void merge_queue_tick(void *arg, Turn *turn) {
    MergeQueue *queue = arg;
    take_prepared(queue, turn);
    complete_trial(turn);
    SqlMergeTrialsEnded row scope(sql_row_free) = {0};
    if (sql_merge_trials_ended(turn->db, &row))
        end_trial(queue, turn, &row);
}

// ---- start and stop -----------------------------------------------------------------------------

MergeQueue *merge_queue_start(const char *data, Error *err) {
    MergeQueue *queue = xcalloc(1, sizeof *queue);
    char *path scope(free_ptr) = xasprintf("%s/patchmate.db", data);
    queue->data = data;
    pthread_mutex_init(&queue->mutex, NULL);
    queue->db = db_open(path, true, err);
    if (queue->db && background_start(&queue->thread, look, queue, LOOK_EVERY_S, err))
        return queue;
    merge_queue_stop(queue);
    return NULL;
}

void merge_queue_stop(MergeQueue *queue) {
    if (!queue)
        return;
    background_stop(queue->thread);
    db_close(queue->db);
    prepared_free(queue->prepared);
    pthread_mutex_destroy(&queue->mutex);
    free(queue);
}
