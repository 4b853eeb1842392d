// See loop.h.
#include "server/loop/loop.h"

#include <math.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/log.h"
#include "server/git/reconcile.h"
#include "server/ledger/ledger.h"
#include "server/ledger/replayer.h"
#include "server/ledger/task.h"
#include "server/loop/admit.h"
#include "server/loop/connections.h"
#include "server/loop/hooks.h"
#include "server/loop/idempotency.h"
#include "server/loop/identify.h"
#include "server/loop/readers.h"
#include "server/storage/disk.h"

enum {
    TICK_MS = 1000,
    LAST_WORDS_MS = 3000,
    DAY_S = 86400,
    TURN_MS =
        25 // then what else is ready waits for the next turn, so that others are read meanwhile
};

// ---- one request in the turn --------------------------------------------------------------------

static void unavailable(RequestData *data) {
    Error err;
    error_set(&err, 503, "unavailable",
              "the database cannot be written just now; nothing was changed; try again");
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

// In a savepoint of its own, so that what one request may not do undoes nothing of another's.
static void apply_one(App *app, RequestData *data, double now) {
    Error err = {0};
    size_t events = app->turn.event_count;
    data->req.turn = &app->turn;
    db_savepoint(app->writer);
    bool good = apply_handler(data, &err);
    if (db_failed(app->writer))
        return;
    if (good)
        db_savepoint_keep(app->writer);
    else {
        db_savepoint_undo(app->writer);
        turn_forget_events(&app->turn, events);
        app->refs_out_of_sync |= app->turn.moves_git;
        request_refuse(data, &err);
    }
    bool waits = data->res.wait && data->res.wait_until > now;
    if (data->res.wait && !waits)
        response_text(&data->res, 204, NULL, "");
    data->stage = waits ? STAGE_WAIT : STAGE_REPLY;
}

// ---- the turn -----------------------------------------------------------------------------------

static void keep_waiting(App *app, RequestData *data) {
    RequestData *older = data->replaced ? NULL : sender_waits(data->sender, data);
    admit_end_job(data);
    if (older) {
        older->replaced = true;
        older->res.wait_until = app->waiting_due = 0;
    }
    if (!app->waiting.first || data->res.wait_until < app->waiting_due)
        app->waiting_due = data->res.wait_until;
    list_push(&app->waiting, data);
}

static void apply_list(App *app, RequestList *list, double now) {
    while (list->first && !db_failed(app->writer)) {
        RequestData *data = list_pop(list);
        apply_one(app, data, now);
        if (data->stage == STAGE_WAIT && !db_failed(app->writer))
            keep_waiting(app, data);
        else
            list_push(&app->done, data);
    }
}

static void apply_ready(App *app, double now) {
    double end = time_monotonic() + TURN_MS / 1000.0;
    while (app->ready.count && !db_failed(app->writer) && time_monotonic() < end) {
        Job *job = queue_pop(&app->ready);
        RequestList one = {0};
        queue_done(&app->ready, job);
        list_push(&one, job->request);
        apply_list(app, &one, now);
    }
}

static void note_tokens(Turn *turn) {
    Error err;
    for (int i = 0; i < turn->token_count; i++)
        db_run(turn->db, &err, SQL_TOKEN_USED, "id", turn->tokens_used[i], turn->now);
    turn->token_count = 0;
}

static void forget_old(App *app, double now) {
    Error err;
    db_run(app->writer, &err, SQL_SESSIONS_EXPIRE, "d", now);
    db_run(app->writer, &err, SQL_LOGIN_FAILURES_EXPIRE, "d", now - DAY_S);
    db_run(app->writer, &err, SQL_IDEMPOTENCY_EXPIRE, "d", now - DAY_S);
}

static void tick_in_turn(App *app, double now) {
    Turn *turn = &app->turn;
    Error err;
    ledger_expire(turn);
    ledger_settle(turn);
    if (app->replayer)
        ledger_take_replayed(turn, app->replayer);
    disk_tick(app, turn, app->ticked > 0 ? fmin(fmax(now - app->ticked, 0), 60) : 0);
    note_tokens(turn);
    db_run(app->writer, &err, SQL_MACHINES_FORGET, "d", now - DAY_S);
    if ((long)(now / 3600) != (long)(app->ticked / 3600))
        forget_old(app, now);
    app->ticked = now;
}

// Takes out of the waiting those who are to be asked again: all when woken, else whose time is up.
static RequestList take_waiting(App *app, bool all, double now) {
    RequestList due = {0}, old = app->waiting;
    app->waiting = (RequestList){0};
    for (RequestData *data; (data = list_pop(&old));)
        if (all || data->res.wait_until <= now)
            list_push(&due, data);
        else
            keep_waiting(app, data);
    return due;
}

// A client that has gone must not be given work, nor one that has asked again since.
static void apply_waiting(App *app, bool all, double now) {
    RequestList due = take_waiting(app, all, now);
    RequestList alive = {0};
    for (RequestData *data; (data = list_pop(&due));) {
        if (!data->replaced && !http_is_gone(data))
            list_push(&alive, data);
        else {
            response_text(&data->res, 204, NULL, "");
            list_push(&app->done, data);
        }
    }
    apply_list(app, &alive, now);
    while (alive.first) // the database failed: they go on waiting
        keep_waiting(app, list_pop(&alive));
}

static bool someone_is_due(const App *app, double now) {
    return app->waiting.first && app->waiting_due <= now;
}

static bool commit(App *app) {
    Error err;
    double start = time_monotonic();
    bool good = db_commit(app->writer, &err);
    app->metrics.commit_seconds += time_monotonic() - start;
    atomic_fetch_add(good ? &app->metrics.commits : &app->metrics.commit_failures, 1);
    return good;
}

// Git was written before the COMMIT that did not come. In a transaction, because `server engine`
// moves references beside us; what cannot be set right now is tried again every second.
static void git_follow(App *app) {
    Error err;
    app->refs_out_of_sync =
        !db_begin(app->writer, &err) || !repo_reconcile(app_data(app), app->writer, &err);
    db_rollback(app->writer);
    if (app->refs_out_of_sync)
        log_error("references do not follow the database yet: %s", err.message);
}

static bool commit_with_git(App *app, bool tick) {
    bool committed = commit(app), failed = app->turn.moves_git && !committed;
    app->turn.moves_git = false;
    if (failed || (app->refs_out_of_sync && (tick || committed)))
        git_follow(app);
    return committed;
}

static void answer(App *app, bool committed, double now) {
    for (size_t i = 0; committed && i < app->turn.event_count; i++)
        stream_publish(&app->streams, app->turn.events[i].name, app->turn.events[i].data, now);
    turn_forget_events(&app->turn, 0);
    for (RequestData *data; (data = list_pop(&app->done));) {
        if (!committed)
            unavailable(data);
        http_resume(data);
    }
}

// The database cannot even begin: all that would have been in the turn hear so, lest they stay due
// and the loop runs in circles.
static void refuse_turn(App *app, double now) {
    RequestList due = take_waiting(app, app->turn.wakes, now);
    for (Job *job; (job = queue_drop(&app->ready));)
        list_push(&app->done, job->request);
    while (due.first)
        list_push(&app->done, list_pop(&due));
    app->turn.wakes = false;
    db_rollback(app->writer);
    answer(app, false, now);
}

// All or nothing: with the COMMIT everything in the turn is on disk and is answered; without it
// nothing happened, and all hear so.
static void run_turn(App *app, double now, bool tick) {
    Error err;
    bool due = someone_is_due(app, now);
    if (!app->ready.count && !app->turn.wakes && !due && !tick)
        return;
    atomic_fetch_add(&app->metrics.turns, 1);
    if (!db_begin(app->writer, &err)) {
        refuse_turn(app, now);
        return;
    }
    app->turn.now = now;
    double start = time_monotonic();
    if (tick)
        tick_in_turn(app, now);
    apply_ready(app, now);
    bool all = app->turn.wakes;
    app->turn.wakes = false;
    if (all || due)
        apply_waiting(app, all, now);
    app->metrics.apply_seconds += time_monotonic() - start;
    answer(app, commit_with_git(app, tick), now);
}

// ---- time and events ----------------------------------------------------------------------------

static void take_finished(App *app) {
    RequestList finished = readers_take(app->readers);
    for (RequestData *data; (data = list_pop(&finished));)
        http_dispatch(app, data);
}

// The lock's time says when the server last lived, so that leases stand still while it does not.
static void outside_turn(App *app, double now) {
    futimens(app->lock_fd, NULL);
    http_tick(app, time_monotonic());
    stream_tick(&app->streams, now);
    RequestList waiting = app->waiting;
    app->waiting = (RequestList){0};
    for (RequestData *data; (data = list_pop(&waiting));)
        if (http_is_gone(data))
            http_resume(data);
        else
            keep_waiting(app, data);
}

static int wait_ms(App *app, double now) {
    unsigned long long least = TICK_MS, other;
    if (app->ready.count || app->turn.wakes)
        return 0;
    if (MHD_get_timeout(app->daemon, &other) == MHD_YES && other < least)
        least = other;
    double left = app->waiting.first ? 1000 * (app->waiting_due - now) + 1 : TICK_MS;
    if (left < (double)least)
        least = left > 0 ? (unsigned long long)left : 0;
    return (int)least;
}

// True when a signal asked to stop.
static bool wait_for_events(App *app, int timeout_ms) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(app->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct pollfd fds[] = {
        {info->epoll_fd, POLLIN, 0}, {app->event_fd, POLLIN, 0}, {app->signal_fd, POLLIN, 0}};
    uint64_t count;
    struct signalfd_siginfo signal;
    poll(fds, 3, timeout_ms);
    if ((fds[1].revents & POLLIN) && read(app->event_fd, &count, sizeof count) < 0)
        log_debug("event already taken");
    return (fds[2].revents & POLLIN) && read(app->signal_fd, &signal, sizeof signal) > 0;
}

// Everybody gets an answer, and nothing stays suspended: libmicrohttpd insists on that at its end.
static void last_words(App *app) {
    http_quiesce(app);
    readers_stop(app->readers);
    take_finished(app);
    double end = time_monotonic() + LAST_WORDS_MS / 1000.0;
    do
        run_turn(app, time_now(), true);
    while (app->ready.count && time_monotonic() < end);
    for (Job *job; (job = queue_drop(&app->ready));)
        list_push(&app->done, job->request);
    while (app->waiting.first)
        list_push(&app->done, list_pop(&app->waiting));
    answer(app, false, time_now());
    stream_end_all(&app->streams);
    end = time_monotonic() + LAST_WORDS_MS / 1000.0;
    do {
        http_run(app);
        wait_for_events(app, 20);
    } while (app->connections && time_monotonic() < end);
    stream_end_all(&app->streams);
}

void loop_run(App *app) {
    double next_tick = time_monotonic();
    while (!wait_for_events(app, wait_ms(app, time_now()))) {
        http_run(app);
        take_finished(app);
        double now = time_now();
        bool tick = time_monotonic() >= next_tick;
        run_turn(app, now, tick);
        if (tick) {
            next_tick = time_monotonic() + TICK_MS / 1000.0;
            outside_turn(app, now);
        }
        http_run(app); // who was resumed is not noticed by waiting
    }
    last_words(app);
}
