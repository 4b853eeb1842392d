// See courier.h. One list of letters is sent strictly in order, so that the last word on a task
// never overtakes its batches; beats go in between. All that the network may hold up happens
// outside the lock.
#include "courier.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../server/common/log.h"
#include "../server/common/member.h"
#include "backoff.h"
#include "config.h"
#include "os.h"
#include "outbox.h"
#include "status.h"

static const double beat_every_s = 60;

struct Courier {
    Api api;
    char *spool;
    pthread_t thread;
    atomic_bool cancel;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    Outbox outbox;
    CourierTask task;
    bool has_task, task_stopped, in_call, quit;
    double next_beat_s, retry_s; // monotonic
    Backoff backoff;
    char waiting_for[256]; // "" while the server answers
};

static double now_s(void) {
    return (double)os_now_ns() / 1e9;
}

static void add_letter(Courier *c, const Letter *letter) {
    pthread_mutex_lock(&c->lock);
    outbox_add(&c->outbox, letter);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

// ---- the task
// ------------------------------------------------------------------------------------

// Calls into the task without the lock, because the task has locks of its own; courier_end waits
// for such a call to return. False: that task is over.
static bool enter_call(Courier *c, int64_t id, CourierTask *task) {
    pthread_mutex_lock(&c->lock);
    bool fine = c->has_task && (!id || c->task.id == id);
    *task = c->task;
    c->in_call = fine;
    pthread_mutex_unlock(&c->lock);
    return fine;
}

static void leave_call(Courier *c) {
    pthread_mutex_lock(&c->lock);
    c->in_call = false;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void stop_task(Courier *c, int64_t id, const char *why) {
    CourierTask task;
    if (!enter_call(c, id, &task))
        return;
    bool first = !c->task_stopped; // only this thread and courier_begin write it
    c->task_stopped = true;
    if (first)
        task.stop(task.ctx, why);
    leave_call(c);
}

// What any reply to a task says of its future.
static void read_continue(Courier *c, int64_t id, const json_t *reply) {
    const char *why = json_string_value(json_object_get(reply, "why"));
    if (json_is_false(json_object_get(reply, "continue")))
        stop_task(c, id, why && *why ? why : "stopped");
}

// ---- sending
// -------------------------------------------------------------------------------------

static void server_away(Courier *c, const Error *err, double retry_after_s) {
    if (strcmp(c->waiting_for, err->message) != 0)
        log_warn("waiting for %s: %s", c->api.session->server, err->message);
    snprintf(c->waiting_for, sizeof c->waiting_for, "%.255s", err->message);
    pthread_mutex_lock(&c->lock);
    c->retry_s = now_s() + backoff_next(&c->backoff, retry_after_s);
    pthread_mutex_unlock(&c->lock);
}

static void server_back(Courier *c) {
    if (*c->waiting_for)
        log_info("%s answers again", c->api.session->server);
    c->waiting_for[0] = 0;
    backoff_reset(&c->backoff);
}

// True: settled, one way or the other.
static bool settle(Courier *c, ApiOutcome outcome, const ApiReply *reply, const Error *err) {
    if (outcome == API_AWAY)
        server_away(c, err, reply->retry_after_s);
    else if (outcome != API_CANCELLED)
        server_back(c);
    return outcome == API_OK || outcome == API_REFUSED;
}

static void next_beat_in(Courier *c, double seconds) {
    pthread_mutex_lock(&c->lock);
    c->next_beat_s = now_s() + seconds;
    pthread_mutex_unlock(&c->lock);
}

// The next one is due from before this one is sent: a phase or a task that begins while the reply
// is awaited asks for a beat of its own, which the reply must not put off.
static void send_beat(Courier *c) {
    CourierTask task;
    if (!enter_call(c, 0, &task))
        return;
    next_beat_in(c, beat_every_s);
    Progress p = task.progress(task.ctx);
    leave_call(c);
    Error err = {0};
    char path[64];
    snprintf(path, sizeof path, "tasks/%" PRId64 "/beat", task.id);
    json_auto_t *body = json_pack("{s:s, s:I, s:i}", "phase", p.phase, "plies", (json_int_t)p.plies,
                                  "begun", p.begun);
    ApiReply reply scope(api_reply_release) = {0};
    ApiCall call = {.method = "POST", .path = path, .body = body};
    ApiOutcome outcome = api_call(&c->api, &call, &reply, &err);
    if (!settle(c, outcome, &reply, &err)) {
        next_beat_in(c, 0);
        return;
    }
    if (outcome == API_REFUSED)
        stop_task(c, task.id, err.message);
    else
        read_continue(c, task.id, reply.json);
}

static ApiOutcome put_games(Courier *c, SpoolItem *item, ApiReply *reply, Error *err) {
    char path[80];
    if (!item->games || item->games_sent)
        return API_OK;
    snprintf(path, sizeof path, "tasks/%" PRId64 "/games/%d", item->task, item->seq);
    ApiCall call = {.method = "PUT",
                    .path = path,
                    .bytes = item->games,
                    .bytes_size = item->games_size,
                    .timeout_s = 120};
    ApiOutcome outcome = api_call(&c->api, &call, reply, err);
    item->games_sent = outcome == API_OK;
    return outcome;
}

static void set_llr(Status *status, void *ctx) {
    json_t *llr = json_object_get(ctx, "llr");
    if (member_int(ctx, "id") != status->test)
        return;
    status->has_llr = json_is_number(llr);
    status->llr = json_number_value(llr);
}

static ApiOutcome post_counts(Courier *c, SpoolItem *item, ApiReply *reply, Error *err) {
    char path[80];
    snprintf(path, sizeof path, "tasks/%" PRId64 "/batches", item->task);
    ApiCall call = {.method = "POST", .path = path, .body = item->counts};
    ApiOutcome outcome = api_call(&c->api, &call, reply, err);
    if (outcome == API_REFUSED && strcmp(err->code, "games_missing") == 0 && item->games_sent) {
        item->games_sent = false; // the server lost them: once more from the start
        return API_AWAY;
    }
    return outcome;
}

static void batch_done(Courier *c, const SpoolItem *item, ApiOutcome outcome, const ApiReply *reply,
                       const Error *err) {
    spool_remove(c->spool, item);
    if (outcome == API_REFUSED) {
        log_error("batch %d of task %" PRId64 " was refused: %s", item->seq, item->task,
                  err->message);
        stop_task(c, item->task, err->message);
        return;
    }
    json_t *test = json_object_get(reply->json, "test");
    log_debug("batch %d of task %" PRId64 " is stored", item->seq, item->task);
    status_update(set_llr, test);
    read_continue(c, item->task, reply->json);
}

static bool send_item(Courier *c, SpoolItem *item) {
    Error err = {0};
    ApiReply reply scope(api_reply_release) = {0};
    ApiOutcome outcome = put_games(c, item, &reply, &err);
    if (outcome == API_OK) {
        api_reply_release(&reply);
        outcome = post_counts(c, item, &reply, &err);
    }
    if (!settle(c, outcome, &reply, &err))
        return false;
    batch_done(c, item, outcome, &reply, &err);
    return true;
}

static bool send_word(Courier *c, Letter *letter) {
    Error err = {0};
    char path[64];
    snprintf(path, sizeof path, "tasks/%" PRId64 "/%s", letter->task, letter->path);
    ApiReply reply scope(api_reply_release) = {0};
    ApiCall call = {.method = "POST", .path = path, .body = letter->body};
    ApiOutcome outcome = api_call(&c->api, &call, &reply, &err);
    if (!settle(c, outcome, &reply, &err))
        return false;
    if (outcome == API_REFUSED)
        log_warn("%s of task %" PRId64 " was refused: %s", letter->path, letter->task, err.message);
    return true;
}

// A raw batch becomes an item on disk. A disk that is full is no reason not to send it.
static void spool_letter(Courier *c, Letter *letter) {
    Error err;
    CourierBatch *raw = letter->raw;
    BatchFacts facts = {raw->tc, raw->speed, raw->busy};
    letter->item = batch_finish(&raw->batch, &facts);
    batch_release(&raw->batch);
    free(raw);
    letter->raw = NULL;
    if (!spool_write(c->spool, letter->item, &err))
        log_warn("a batch could not be kept on disk: %s", err.message);
}

// ---- the thread
// ----------------------------------------------------------------------------------

// What to do next, decided under the lock; waits until there is something.
typedef enum { DO_QUIT, DO_SPOOL, DO_BEAT, DO_SEND } Deed;

static void wait_until(Courier *c, double when_s) {
    struct timespec until = {(time_t)when_s, (long)((when_s - (double)(time_t)when_s) * 1e9)};
    pthread_cond_timedwait(&c->changed, &c->lock, &until);
}

static Deed next_deed(Courier *c, Letter **letter) {
    pthread_mutex_lock(&c->lock);
    Deed deed = DO_QUIT;
    while (!c->quit || outbox_first_raw(&c->outbox)) {
        double now = now_s();
        bool beats = c->has_task && !c->task_stopped;
        deed = (*letter = outbox_first_raw(&c->outbox)) ? DO_SPOOL
               : now < c->retry_s                       ? DO_QUIT
               : beats && now >= c->next_beat_s         ? DO_BEAT
               : (*letter = c->outbox.first)            ? DO_SEND
                                                        : DO_QUIT;
        if (deed != DO_QUIT)
            break;
        double until = beats ? c->next_beat_s : now + beat_every_s;
        wait_until(c, now < c->retry_s ? c->retry_s : until);
    }
    pthread_mutex_unlock(&c->lock);
    return deed;
}

// Letters are taken off by this thread alone.
static void drop_first(Courier *c) {
    pthread_mutex_lock(&c->lock);
    Letter *letter = outbox_take_first(&c->outbox);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    letter_free(letter);
}

static void *courier_thread(void *ctx) {
    Courier *c = ctx;
    Letter *letter = NULL;
    for (Deed deed; (deed = next_deed(c, &letter)) != DO_QUIT;) {
        if (deed == DO_SPOOL)
            spool_letter(c, letter);
        else if (deed == DO_BEAT)
            send_beat(c);
        else if (letter->item ? send_item(c, letter->item) : send_word(c, letter))
            drop_first(c);
    }
    return NULL;
}

static void load_spool(Courier *c) {
    int count;
    SpoolItem **items scope(free_ptr) = spool_read(c->spool, &count);
    if (count)
        log_info("%d unsent batches of an earlier run", count);
    for (int i = 0; i < count; i++)
        add_letter(c, &(Letter){.item = items[i], .task = items[i]->task});
}

Courier *courier_new(Session *session) {
    Courier *c = xcalloc(1, sizeof *c);
    c->api = (Api){session, client_new("patchmate-worker/" WORKER_VERSION, &c->cancel)};
    c->spool = xasprintf("%s/spool", session->folder);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&c->lock, NULL);
    load_spool(c);
    if (pthread_create(&c->thread, NULL, courier_thread, c) != 0)
        fatal("cannot start a thread");
    return c;
}

bool courier_drain(Courier *c, double patience_s) {
    double end = now_s() + patience_s;
    pthread_mutex_lock(&c->lock);
    c->retry_s = 0; // one try at once, whatever was waited for
    pthread_cond_broadcast(&c->changed);
    while (c->outbox.first && now_s() < end)
        wait_until(c, end);
    bool empty = !c->outbox.first;
    pthread_mutex_unlock(&c->lock);
    return empty;
}

void courier_free(Courier *c) {
    if (!c)
        return;
    atomic_store(&c->cancel, true);
    pthread_mutex_lock(&c->lock);
    c->quit = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    for (Letter *letter; (letter = outbox_take_first(&c->outbox));)
        letter_free(letter);
    client_free(c->api.client);
    free(c->spool);
    free(c);
}

void courier_begin(Courier *c, const CourierTask *task) {
    pthread_mutex_lock(&c->lock);
    c->task = *task;
    c->has_task = true;
    c->task_stopped = false;
    c->next_beat_s = now_s();
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

void courier_beat_soon(Courier *c) {
    pthread_mutex_lock(&c->lock);
    c->next_beat_s = now_s();
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

void courier_end(Courier *c) {
    pthread_mutex_lock(&c->lock);
    c->has_task = false;
    while (c->in_call)
        pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

void courier_batch(Courier *c, CourierBatch *batch) {
    add_letter(c, &(Letter){.raw = batch, .task = batch->batch.task});
}

void courier_word(Courier *c, int64_t task, const char *path, json_t *body) {
    Letter letter = {.task = task, .body = body};
    snprintf(letter.path, sizeof letter.path, "%s", path);
    add_letter(c, &letter);
}

json_t *courier_unsent(Courier *c, int max) {
    json_t *list = json_array();
    int64_t last = 0;
    pthread_mutex_lock(&c->lock);
    for (const Letter *l = c->outbox.first; l && (int)json_array_size(list) < max; l = l->next)
        if ((l->item || l->raw) && l->task != last)
            json_array_append_new(list, json_integer(last = l->task));
    pthread_mutex_unlock(&c->lock);
    return list;
}
