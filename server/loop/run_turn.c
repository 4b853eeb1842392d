// See run_turn.h.
#include "server/loop/run_turn.h"

#include "server/common/clock.h"
#include "server/common/log.h"
#include "server/git/reconcile.h"
#include "server/http/response.h"
#include "server/loop/admit.h"
#include "server/loop/connections.h"
#include "server/loop/idempotency.h"
#include "server/loop/identify.h"
#include "server/loop/tick.h"

// Other ready requests wait for the next turn, so that these get their replies.
enum { TURN_MS = 25 };

// ---- one request in the turn --------------------------------------------------------------------

static void unavailable(RequestData *data) {
    Error err;
    error_set(&err, 503, "unavailable",
              "the database cannot be written at the moment; nothing was changed; try again");
    request_refuse(data, &err);
    data->stage = STAGE_REPLY;
}

static bool open_once(RequestData *data, Error *err) {
    if (data->opened)
        return true;
    data->opened = true;
    return request_open_body(data, err) && viewer_check_csrf(data, err);
}

static bool apply_handler(RequestData *data, Error *err) {
    data->stage = STAGE_APPLY;
    if (!viewer_again(data, err) || !open_once(data, err) || !idempotency_look(data, err))
        return false;
    if (data->stage == STAGE_REPLY)
        return true;
    data->res.wait = WAIT_NONE;
    return data->route->apply(&data->req, &data->res, err) && idempotency_keep(data, err);
}

// Each request has its own savepoint, so undoing one request does not undo another.
static void apply_one(Loop *loop, RequestData *data, double now) {
    Error err = {0};
    size_t events = loop->turn.event_count;
    data->req.turn = &loop->turn;
    db_savepoint(loop->writer);
    bool good = apply_handler(data, &err);
    if (db_failed(loop->writer))
        return;
    if (good)
        db_savepoint_keep(loop->writer);
    else {
        db_savepoint_undo(loop->writer);
        turn_forget_events(&loop->turn, events);
        loop->refs_out_of_sync |= loop->turn.moves_git;
        request_refuse(data, &err);
    }
    bool waits = data->res.wait && data->res.wait_until > now;
    if (data->res.wait && !waits)
        response_text(&data->res, 204, NULL, "");
    data->stage = waits ? STAGE_WAIT : STAGE_REPLY;
}

// ---- the turn -----------------------------------------------------------------------------------

static void keep_waiting(Loop *loop, RequestData *data) {
    RequestData *older = data->replaced ? NULL : sender_waits(data->sender, data);
    admit_end_job(data);
    if (older) {
        older->replaced = true;
        older->res.wait_until = loop->queues.waiting_due = 0;
    }
    if (!loop->queues.waiting.first || data->res.wait_until < loop->queues.waiting_due)
        loop->queues.waiting_due = data->res.wait_until;
    list_push(&loop->queues.waiting, data);
}

static void apply_list(Loop *loop, RequestList *list, double now) {
    while (list->first && !db_failed(loop->writer)) {
        RequestData *data = list_pop(list);
        apply_one(loop, data, now);
        if (data->stage == STAGE_WAIT && !db_failed(loop->writer))
            keep_waiting(loop, data);
        else
            list_push(&loop->queues.done, data);
    }
}

static void apply_ready(Loop *loop, double now) {
    double end = time_monotonic() + TURN_MS / 1000.0;
    while (loop->queues.ready.count && !db_failed(loop->writer) && time_monotonic() < end) {
        Job *job = queue_pop(&loop->queues.ready);
        RequestList one = {0};
        queue_done(&loop->queues.ready, job);
        list_push(&one, job->request);
        apply_list(loop, &one, now);
    }
}

// Takes the waiting requests that are to be tried again: all when woken, else those whose time has
// come.
static RequestList take_waiting(Loop *loop, bool all, double now) {
    RequestList due = {0}, old = loop->queues.waiting;
    loop->queues.waiting = (RequestList){0};
    for (RequestData *data; (data = list_pop(&old));)
        if (all || data->res.wait_until <= now)
            list_push(&due, data);
        else
            keep_waiting(loop, data);
    return due;
}

// A client that has disconnected must not be given work. The same is true of a claim that a newer
// claim of its machine has replaced.
static void apply_waiting(Loop *loop, bool all, double now) {
    RequestList due = take_waiting(loop, all, now);
    RequestList alive = {0};
    for (RequestData *data; (data = list_pop(&due));) {
        if (!data->replaced && !http_is_gone(data))
            list_push(&alive, data);
        else {
            response_text(&data->res, 204, NULL, "");
            list_push(&loop->queues.done, data);
        }
    }
    apply_list(loop, &alive, now);
    while (alive.first) // the database failed: they continue to wait
        keep_waiting(loop, list_pop(&alive));
}

static bool someone_is_due(const Loop *loop, double now) {
    return loop->queues.waiting.first && loop->queues.waiting_due <= now;
}

static bool commit(Loop *loop) {
    Error err;
    double start = time_monotonic();
    bool good = db_commit(loop->writer, &err);
    loop->figures.commit_seconds += time_monotonic() - start;
    if (good)
        atomic_fetch_add(&loop->commits, 1);
    else
        loop->figures.commit_failures++;
    return good;
}

// Sets the references back after a COMMIT that failed: git was written before it. Runs in a
// transaction, because `server engine` also moves references. If it fails, it is tried again every
// second.
static void git_follow(Loop *loop) {
    Error err;
    loop->refs_out_of_sync =
        !db_begin(loop->writer, &err) || !repo_reconcile(loop->site->data, loop->writer, &err);
    db_rollback(loop->writer);
    if (loop->refs_out_of_sync)
        log_error("references do not follow the database yet: %s", err.message);
}

static bool commit_with_git(Loop *loop, bool tick) {
    bool committed = commit(loop), failed = loop->turn.moves_git && !committed;
    loop->turn.moves_git = false;
    if (failed || (loop->refs_out_of_sync && (tick || committed)))
        git_follow(loop);
    return committed;
}

static void answer(Loop *loop, bool committed, double now) {
    for (size_t i = 0; committed && i < loop->turn.event_count; i++)
        stream_publish(&loop->streams, loop->turn.events[i].name, loop->turn.events[i].data, now);
    turn_forget_events(&loop->turn, 0);
    for (RequestData *data; (data = list_pop(&loop->queues.done));) {
        if (!committed)
            unavailable(data);
        http_resume(data);
    }
}

// The database cannot begin a transaction: refuses all requests of this turn. If they stayed, they
// would be due at once, and the loop would never wait.
static void refuse_turn(Loop *loop, double now) {
    RequestList due = take_waiting(loop, loop->turn.wakes, now);
    for (Job *job; (job = queue_drop(&loop->queues.ready));)
        list_push(&loop->queues.done, job->request);
    while (due.first)
        list_push(&loop->queues.done, list_pop(&due));
    loop->turn.wakes = false;
    db_rollback(loop->writer);
    answer(loop, false, now);
}

void run_turn(Loop *loop, double now, bool tick) {
    Error err;
    bool due = someone_is_due(loop, now);
    if (!loop->queues.ready.count && !loop->turn.wakes && !due && !tick)
        return;
    loop->figures.turns++;
    if (!db_begin(loop->writer, &err)) {
        refuse_turn(loop, now);
        return;
    }
    loop->turn.now = now;
    double start = time_monotonic();
    if (tick)
        tick_in_turn(loop, now);
    apply_ready(loop, now);
    bool all = loop->turn.wakes;
    loop->turn.wakes = false;
    if (all || due)
        apply_waiting(loop, all, now);
    loop->figures.apply_seconds += time_monotonic() - start;
    answer(loop, commit_with_git(loop, tick), now);
}

// ---- requests that need no turn -----------------------------------------------------------------

void run_turn_end_gone(Loop *loop) {
    RequestList waiting = loop->queues.waiting;
    loop->queues.waiting = (RequestList){0};
    for (RequestData *data; (data = list_pop(&waiting));)
        if (http_is_gone(data))
            http_resume(data);
        else
            keep_waiting(loop, data);
}

void run_turn_refuse_rest(Loop *loop, double now) {
    for (Job *job; (job = queue_drop(&loop->queues.ready));)
        list_push(&loop->queues.done, job->request);
    while (loop->queues.waiting.first)
        list_push(&loop->queues.done, list_pop(&loop->queues.waiting));
    answer(loop, false, now);
}
