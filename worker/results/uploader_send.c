// See courier_inside.h: heartbeats and letters, sent, and what the answers mean for the task and the
// spool.
#include "worker/results/uploader_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/common/log.h"
#include "worker/console/pacing.h"
#include "worker/console/status.h"
#include "worker/results/delivery.h"

static const double heartbeat_every_s = 60, store_again_s = 10;

// ---- the task -----------------------------------------------------------------------------------

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

// ---- heartbeats --------------------------------------------------------------------------------------

static void next_heartbeat_in(Courier *c, double seconds) {
    pthread_mutex_lock(&c->lock);
    c->next_heartbeat_s = courier_now_s() + seconds;
    pthread_mutex_unlock(&c->lock);
}

static void heartbeat_in_vain(Courier *c, const Error *err, double retry_after_s) {
    double pause_s = outage_wait(&c->api.session->outage, &c->heartbeats, err, retry_after_s);
    c->heartbeats_offline = err->status == 0;
    next_heartbeat_in(c, pause_s);
}

// The server was there: those that found nobody need not wait out their time.
static void hurry_others(Courier *c) {
    pthread_mutex_lock(&c->lock);
    outbox_hurry(&c->outbox);
    if (c->heartbeats.waits && c->heartbeats_offline)
        c->next_heartbeat_s = 0;
    pthread_mutex_unlock(&c->lock);
}

static void heartbeat_answered(Courier *c) {
    bool waited = c->heartbeats.waits;
    outage_over(&c->api.session->outage, &c->heartbeats, true);
    if (waited)
        hurry_others(c);
}

// The next one is due from before this one is sent: a phase or a task that begins while the reply
// is awaited asks for a heartbeat of its own, which the reply must not put off.
void courier_send_heartbeat(Courier *c) {
    CourierTask task;
    if (!enter_call(c, 0, &task))
        return;
    next_heartbeat_in(c, patience(heartbeat_every_s));
    Progress p = task.progress(task.ctx);
    leave_call(c);
    Error err = {0};
    char path[64];
    snprintf(path, sizeof path, "tasks/%" PRId64 "/heartbeat", task.id);
    json_auto_t *body = json_pack("{s:s, s:I, s:i}", "phase", p.phase, "plies", (json_int_t)p.plies,
                                  "started_pairs", p.started_pairs);
    ApiReply reply scope(api_reply_release) = {0};
    ApiCall call = {.method = "POST", .path = path, .body = body, .expects = "continue"};
    ApiOutcome outcome = api_call(&c->api, &call, &reply, &err);
    if (outcome == API_AWAY)
        return heartbeat_in_vain(c, &err, reply.retry_after_s);
    if (outcome == API_CANCELLED)
        return;
    heartbeat_answered(c);
    if (outcome == API_REFUSED)
        stop_task(c, task.id, err.message);
    else
        read_continue(c, task.id, reply.json);
}

// ---- letters ------------------------------------------------------------------------------------

static void set_llr(Status *status, void *ctx) {
    const json_t *test = ctx, *llr = json_object_get(test, "llr");
    if (member_int(test, "id") != status->test)
        return;
    status->has_llr = json_is_number(llr);
    status->llr = json_number_value(llr);
}

static const char *letter_name(const Letter *letter, char out[64]) {
    if (!letter->item)
        snprintf(out, 64, "%s of task %" PRId64, letter->path, letter->task);
    else
        snprintf(out, 64, "%s %d of task %" PRId64,
                 letter->kind == LETTER_BATCH ? "batch" : "fault_report", letter->item->seq,
                 letter->task);
    return out;
}

static void letter_refused(Courier *c, const Letter *letter, const Error *err) {
    char name[64];
    if (letter->kind != LETTER_BATCH) {
        log_warn("%s was refused: %s", letter_name(letter, name), err->message);
        if (letter->item)
            spool_remove(c->spool, letter->item);
        return;
    }
    log_error("%s was refused and is kept in %s/refused: %s", letter_name(letter, name), c->spool,
              err->message);
    spool_put_aside(c->spool, letter->item, err->message);
    stop_task(c, letter->task, err->message);
}

static void letter_accepted(Courier *c, const Letter *letter, const json_t *reply) {
    char name[64];
    if (letter->item)
        spool_remove(c->spool, letter->item);
    log_debug("%s is stored", letter_name(letter, name));
    if (letter->kind != LETTER_BATCH)
        return;
    status_update(set_llr, json_object_get(reply, "test"));
    api_read_credit(reply);
    read_continue(c, letter->task, reply);
}

static void letter_in_vain(Courier *c, Letter *letter, const Delivery *d) {
    double pause_s =
        outage_wait(&c->api.session->outage, &letter->waiter, &d->error, d->reply.retry_after_s);
    pthread_mutex_lock(&c->lock);
    letter->retry_s = courier_now_s() + pause_s;
    letter->tried = true;
    letter->offline = d->error.status == 0;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

// Letters are taken off by this thread alone.
static void take_off(Courier *c, Letter *letter) {
    bool waited = letter->waiter.waits;
    outage_over(&c->api.session->outage, &letter->waiter, true);
    pthread_mutex_lock(&c->lock);
    c->unstored -= letter->item && !letter->stored;
    outbox_remove(&c->outbox, letter);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    letter_free(letter);
    if (waited)
        hurry_others(c);
}

// A disk that is full is no reason not to send an item, nor to forget it: it stays in memory and is
// tried again in a while.
void courier_store_item(Courier *c, Letter *letter) {
    Error err = {0};
    bool stored = spool_write(c->spool, letter->item, &err);
    pthread_mutex_lock(&c->lock);
    c->unstored -= stored;
    letter->stored = stored;
    c->store_s = stored ? 0 : courier_now_s() + patience(store_again_s);
    bool all = c->unstored == 0;
    pthread_mutex_unlock(&c->lock);
    if (!stored && !c->disk_failed)
        log_warn("results cannot be kept on disk and stay in memory until they are sent: %s",
                 err.message);
    if (all && c->disk_failed)
        log_info("results can be kept on disk again");
    c->disk_failed = !stored || (c->disk_failed && !all);
}

void courier_send_letter(Courier *c, Letter *letter) {
    Delivery d scope(delivery_release) = letter_send(&c->api, letter);
    Error ignored;
    if (d.changed && letter->stored)
        (void)!spool_write(c->spool, letter->item, &ignored);
    if (d.outcome == API_CANCELLED)
        return;
    if (d.outcome == API_AWAY)
        return letter_in_vain(c, letter, &d);
    if (d.outcome == API_REFUSED)
        letter_refused(c, letter, &d.error);
    else
        letter_accepted(c, letter, d.reply.json);
    take_off(c, letter);
}

// A raw batch becomes an item on disk.
void courier_make_item(Courier *c, Letter *letter) {
    CourierBatch *raw = letter->raw;
    BatchFacts facts = {raw->tc, raw->speed, raw->busy, &raw->load};
    SpoolItem *item = batch_finish(&raw->batch, &facts);
    batch_release(&raw->batch);
    free(raw);
    pthread_mutex_lock(&c->lock);
    letter->item = item;
    letter->raw = NULL;
    c->unstored++;
    pthread_mutex_unlock(&c->lock);
    courier_store_item(c, letter);
}
