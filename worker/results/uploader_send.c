// See uploader_send.h: heartbeats and messages are sent, and the replies decide what happens to the
// task and the spool.
#include "worker/results/uploader_send.h"

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

// Calls into the task without the lock, because the task has locks of its own; uploader_end waits
// for such a call to return. False: that task is over.
static bool enter_call(Uploader *c, int64_t id, UploaderTask *task) {
    pthread_mutex_lock(&c->lock);
    bool fine = c->has_task && (!id || c->task.id == id);
    *task = c->task;
    c->in_call = fine;
    pthread_mutex_unlock(&c->lock);
    return fine;
}

static void leave_call(Uploader *c) {
    pthread_mutex_lock(&c->lock);
    c->in_call = false;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void stop_task(Uploader *c, int64_t id, const char *why) {
    UploaderTask task;
    if (!enter_call(c, id, &task))
        return;
    bool first = !c->task_stopped; // only this thread and uploader_begin write it
    c->task_stopped = true;
    if (first)
        task.stop(task.ctx, why);
    leave_call(c);
}

// Each reply to a call of a task says whether the task continues.
static void read_continue(Uploader *c, int64_t id, const json_t *reply) {
    const char *why = json_string_value(json_object_get(reply, "why"));
    if (json_is_false(json_object_get(reply, "continue")))
        stop_task(c, id, why && *why ? why : "stopped");
}

// ---- heartbeats ---------------------------------------------------------------------------------

static void next_heartbeat_in(Uploader *c, double seconds) {
    pthread_mutex_lock(&c->lock);
    c->next_heartbeat_s = uploader_now_s() + seconds;
    pthread_mutex_unlock(&c->lock);
}

static void heartbeat_failed(Uploader *c, const Error *err, double retry_after_s) {
    double pause_s = outage_wait(&c->api.identity->outage, &c->heartbeats, err, retry_after_s);
    c->heartbeats_offline = err->status == 0;
    next_heartbeat_in(c, pause_s);
}

// The server is reachable again: retry what failed because of the network.
static void retry_others(Uploader *c) {
    pthread_mutex_lock(&c->lock);
    outbox_retry_now(&c->outbox);
    if (c->heartbeats.waits && c->heartbeats_offline)
        c->next_heartbeat_s = 0;
    pthread_mutex_unlock(&c->lock);
}

static void heartbeat_answered(Uploader *c) {
    bool waited = c->heartbeats.waits;
    outage_over(&c->api.identity->outage, &c->heartbeats, true);
    if (waited)
        retry_others(c);
}

// Schedule the next heartbeat before sending this one. If a phase starts while we wait for the
// reply, it requests an immediate heartbeat, and the reply must not overwrite that request.
void uploader_send_heartbeat(Uploader *c) {
    UploaderTask task;
    if (!enter_call(c, 0, &task))
        return;
    next_heartbeat_in(c, pacing(heartbeat_every_s));
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
        return heartbeat_failed(c, &err, reply.retry_after_s);
    if (outcome == API_CANCELLED)
        return;
    heartbeat_answered(c);
    if (outcome == API_REFUSED)
        stop_task(c, task.id, err.message);
    else
        read_continue(c, task.id, reply.json);
}

// ---- messages -----------------------------------------------------------------------------------

static void set_llr(Status *status, void *ctx) {
    const json_t *test = ctx, *llr = json_object_get(test, "llr");
    if (member_int(test, "id") != status->test)
        return;
    status->has_llr = json_is_number(llr);
    status->llr = json_number_value(llr);
}

static const char *message_name(const Message *message, char out[64]) {
    if (!message->item)
        snprintf(out, 64, "%s of task %" PRId64, message->path, message->task);
    else
        snprintf(out, 64, "%s %d of task %" PRId64,
                 message->kind == MESSAGE_BATCH ? "batch" : "fault report", message->item->seq,
                 message->task);
    return out;
}

static void message_refused(Uploader *c, const Message *message, const Error *err) {
    char name[64];
    if (message->kind != MESSAGE_BATCH) {
        log_warn("%s was refused: %s", message_name(message, name), err->message);
        if (message->item)
            spool_remove(c->spool, message->item);
        return;
    }
    log_error("%s was refused and is kept in %s/refused: %s", message_name(message, name), c->spool,
              err->message);
    spool_put_aside(c->spool, message->item, err->message);
    stop_task(c, message->task, err->message);
}

static void message_accepted(Uploader *c, const Message *message, const json_t *reply) {
    char name[64];
    if (message->item)
        spool_remove(c->spool, message->item);
    log_debug("%s is stored", message_name(message, name));
    if (message->kind != MESSAGE_BATCH)
        return;
    status_update(set_llr, json_object_get(reply, "test"));
    api_read_credit(reply);
    read_continue(c, message->task, reply);
}

static void message_failed(Uploader *c, Message *message, const Delivery *d) {
    double pause_s =
        outage_wait(&c->api.identity->outage, &message->waiter, &d->error, d->reply.retry_after_s);
    pthread_mutex_lock(&c->lock);
    message->retry_s = uploader_now_s() + pause_s;
    message->failed = true;
    message->offline = d->error.status == 0;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

// Only this thread removes messages from the outbox.
static void take_off(Uploader *c, Message *message) {
    bool waited = message->waiter.waits;
    outage_over(&c->api.identity->outage, &message->waiter, true);
    pthread_mutex_lock(&c->lock);
    c->unstored -= message->state == MESSAGE_UNSTORED;
    outbox_remove(&c->outbox, message);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    message_free(message);
    if (waited)
        retry_others(c);
}

// If the disk is full, the item is still sent. Until then it stays in memory, and is stored again
// later.
void uploader_store_item(Uploader *c, Message *message) {
    Error err = {0};
    bool stored = spool_write(c->spool, message->item, &err);
    pthread_mutex_lock(&c->lock);
    c->unstored -= stored;
    message->state = stored ? MESSAGE_READY : MESSAGE_UNSTORED;
    c->store_s = stored ? 0 : uploader_now_s() + pacing(store_again_s);
    bool all = c->unstored == 0;
    pthread_mutex_unlock(&c->lock);
    if (!stored && !c->disk_failed)
        log_warn("results cannot be written to disk and stay in memory until they are sent: %s",
                 err.message);
    if (all && c->disk_failed)
        log_info("results can be written to disk again");
    c->disk_failed = !stored || (c->disk_failed && !all);
}

void uploader_send_message(Uploader *c, Message *message) {
    Delivery d scope(delivery_release) = message_send(&c->api, message);
    Error ignored;
    if (d.changed && message->state == MESSAGE_READY)
        (void)!spool_write(c->spool, message->item, &ignored);
    if (d.outcome == API_CANCELLED)
        return;
    if (d.outcome == API_AWAY)
        return message_failed(c, message, &d);
    if (d.outcome == API_REFUSED)
        message_refused(c, message, &d.error);
    else
        message_accepted(c, message, d.reply.json);
    take_off(c, message);
}

void uploader_pack_batch(Uploader *c, Message *message) {
    PlayedBatch *played = message->played;
    BatchFacts facts = {played->tc, played->speed, played->busy, &played->load};
    SpoolItem *item = batch_finish(&played->batch, &facts);
    batch_release(&played->batch);
    free(played);
    pthread_mutex_lock(&c->lock);
    message->item = item;
    message->played = NULL;
    message->state = MESSAGE_UNSTORED;
    c->unstored++;
    pthread_mutex_unlock(&c->lock);
    uploader_store_item(c, message);
}
