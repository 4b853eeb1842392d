// See run_turn.h. A turn begins a transaction, does the work of the second if one has passed
// (tick.h), and applies ready requests for 25 ms. Each request has a savepoint: the viewer is
// identified again, the body is opened unless a reader did it, a repeated Idempotency-Key is
// answered with the stored reply, or else the handler runs. If it fails, its savepoint is undone
// and its error is the reply. The replies are held back. After the COMMIT the loop publishes the
// events of the turn and sends the replies; if the COMMIT fails, every reply becomes a 503 instead.
//
// A claim for which there is no task waits here. Its handler sets `wait`, and its savepoint is
// kept. The claim leaves the sender's count of running jobs, and its connection stays suspended. It
// is applied again when a handler reports that there may be work (turn.wakes), and at its deadline,
// when an empty 204 answers it. The same answers a claim whose client has disconnected, or that a
// newer claim of the same machine has replaced, because a task for it would be lost.
//
// A handler that moves a reference in git does so before the COMMIT, so that a row never names a
// commit without a reference. If its request or the COMMIT fails, the references are set to what
// the database says, and this is tried every second until it succeeds.
//
// Deliberately not done: no reply is sent before the COMMIT, no request is tried again after a
// failed COMMIT (its client does that), and a turn does not empty the queue of ready requests. If
// the database fails within the turn, a claim that waits is not refused: it waits for a later turn.
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

// Ready requests that are left after this time wait for the next turn, so that the others get their
// replies.
enum { TURN_MS = 25 };

// ---- one request in the turn --------------------------------------------------------------------

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

// Since the loop received the request, the viewer may have lost rights, and a request with the same
// Idempotency-Key may have been committed. So both are looked up again. The body is opened here if
// the route has no `prepare`.
static bool apply_handler(RequestData *data, Error *err) {
    data->stage = STAGE_APPLY;
    if (!viewer_again(data, err))
        return false;
    if (!data->opened) {
        data->opened = true;
        if (!request_open_body(data, err) || !viewer_check_csrf(data, err))
            return false;
    }
    if (!idempotency_look(data, err))
        return false;
    if (data->stage == STAGE_REPLY)
        return true;
    data->res.wait = WAIT_NONE;
    return data->route->apply(&data->req, &data->res, err) && idempotency_keep(data, err);
}

// Afterwards the request waits, or it is done and gets its reply after the COMMIT. If the database
// fails, nothing is undone here: the turn cannot be committed any more.
static void apply_one(Loop *loop, RequestData *data, double now) {
    Error err = {0};
    size_t events = loop->turn.event_count;
    data->req.turn = &loop->turn;
    db_savepoint(loop->writer);
    bool good = apply_handler(data, &err);
    if (db_failed(loop->writer)) {
        list_push(&loop->queues.done, data);
        return;
    }
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
    if (waits && !db_failed(loop->writer))
        keep_waiting(loop, data);
    else
        list_push(&loop->queues.done, data);
}

// ---- the turn -----------------------------------------------------------------------------------

// Takes the waiting requests that should be tried again: all if the turn was woken, otherwise those
// whose time has come.
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

static void apply_waiting(Loop *loop, bool all, double now) {
    RequestList due = take_waiting(loop, all, now);
    for (RequestData *data; (data = list_pop(&due));)
        if (data->replaced || http_is_gone(data)) {
            response_text(&data->res, 204, NULL, "");
            list_push(&loop->queues.done, data);
        } else if (db_failed(loop->writer))
            keep_waiting(loop, data);
        else
            apply_one(loop, data, now);
}

// Sets the references back: git was written before a COMMIT that failed, or before a request that
// was undone. Runs in a transaction, because `server engine` also moves references. If it fails, it
// is tried again every second.
static void git_follow(Loop *loop) {
    Error err;
    loop->refs_out_of_sync =
        !db_begin(loop->writer, &err) || !repo_reconcile(loop->site->data, loop->writer, &err);
    db_rollback(loop->writer);
    if (loop->refs_out_of_sync)
        log_error("references do not follow the database yet: %s", err.message);
}

static bool commit(Loop *loop, bool tick) {
    Error err;
    double start = time_monotonic();
    bool committed = db_commit(loop->writer, &err);
    loop->figures.commit_seconds += time_monotonic() - start;
    if (committed)
        atomic_fetch_add(&loop->commits, 1);
    else
        loop->figures.commit_failures++;
    bool moved_back = loop->turn.moves_git && !committed;
    loop->turn.moves_git = false;
    if (moved_back || (loop->refs_out_of_sync && (tick || committed)))
        git_follow(loop);
    return committed;
}

static void answer(Loop *loop, bool committed, double now) {
    for (size_t i = 0; committed && i < loop->turn.event_count; i++)
        stream_publish(&loop->streams, loop->turn.events[i].name, loop->turn.events[i].data, now);
    turn_forget_events(&loop->turn, 0);
    for (RequestData *data; (data = list_pop(&loop->queues.done));) {
        if (!committed) {
            Error err;
            error_set(&err, 503, "unavailable",
                      "the database cannot be written at the moment; nothing was changed; try "
                      "again");
            request_refuse(data, &err);
        }
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
    JobQueue *ready = &loop->queues.ready;
    bool due = loop->queues.waiting.first && loop->queues.waiting_due <= now;
    if (!ready->count && !loop->turn.wakes && !due && !tick)
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
    double end = time_monotonic() + TURN_MS / 1000.0;
    while (ready->count && !db_failed(loop->writer) && time_monotonic() < end) {
        Job *job = queue_pop(ready);
        queue_done(ready, job);
        apply_one(loop, job->request, now);
    }
    bool all = loop->turn.wakes;
    loop->turn.wakes = false;
    if (all || due)
        apply_waiting(loop, all, now);
    loop->figures.apply_seconds += time_monotonic() - start;
    answer(loop, commit(loop, tick), now);
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
