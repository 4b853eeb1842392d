// See uploader_send.h. Sends heartbeats and messages; the replies decide what happens to the task
// and to the files of the spool.
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
static bool enter_call(Uploader *uploader, int64_t id, UploaderTask *task) {
    pthread_mutex_lock(&uploader->lock);
    bool fine = uploader->has_task && (!id || uploader->task.id == id);
    *task = uploader->task;
    uploader->in_call = fine;
    pthread_mutex_unlock(&uploader->lock);
    return fine;
}

static void leave_call(Uploader *uploader) {
    pthread_mutex_lock(&uploader->lock);
    uploader->in_call = false;
    pthread_cond_broadcast(&uploader->changed);
    pthread_mutex_unlock(&uploader->lock);
}

static void stop_task(Uploader *uploader, int64_t id, const char *why) {
    UploaderTask task;
    if (!enter_call(uploader, id, &task))
        return;
    bool first = !uploader->task_stopped; // only this thread and uploader_begin write it
    uploader->task_stopped = true;
    if (first)
        task.stop(task.ctx, why);
    leave_call(uploader);
}

// Each reply to a call of a task says whether the task continues.
static void read_continue(Uploader *uploader, int64_t id, const json_t *reply) {
    const char *why = json_string_value(json_object_get(reply, "why"));
    if (json_is_false(json_object_get(reply, "continue")))
        stop_task(uploader, id, why && *why ? why : "stopped");
}

// ---- heartbeats ---------------------------------------------------------------------------------

static void next_heartbeat_in(Uploader *uploader, double seconds) {
    pthread_mutex_lock(&uploader->lock);
    uploader->next_heartbeat_s = uploader_now_s() + seconds;
    pthread_mutex_unlock(&uploader->lock);
}

static void heartbeat_failed(Uploader *uploader, const Error *err, double retry_after_s) {
    double pause_s =
        outage_wait(&uploader->api.identity->outage, &uploader->heartbeats, err, retry_after_s);
    uploader->heartbeats_offline = err->status == 0;
    next_heartbeat_in(uploader, pause_s);
}

// The server is reachable again: retry what failed because of the network.
static void retry_others(Uploader *uploader) {
    pthread_mutex_lock(&uploader->lock);
    outbox_retry_now(&uploader->outbox);
    if (uploader->heartbeats.waits && uploader->heartbeats_offline)
        uploader->next_heartbeat_s = 0;
    pthread_mutex_unlock(&uploader->lock);
}

static void heartbeat_answered(Uploader *uploader) {
    bool waited = uploader->heartbeats.waits;
    outage_over(&uploader->api.identity->outage, &uploader->heartbeats, true);
    if (waited)
        retry_others(uploader);
}

// Schedule the next heartbeat before sending this one. If a phase starts while we wait for the
// reply, it requests an immediate heartbeat, and the reply must not overwrite that request.
void uploader_send_heartbeat(Uploader *uploader) {
    UploaderTask task;
    if (!enter_call(uploader, 0, &task))
        return;
    next_heartbeat_in(uploader, pacing(heartbeat_every_s));
    Progress p = task.progress(task.ctx);
    leave_call(uploader);
    Error err = {0};
    char path[64];
    snprintf(path, sizeof path, "tasks/%" PRId64 "/heartbeat", task.id);
    json_auto_t *body = json_pack("{s:s, s:I, s:i}", "phase", p.phase, "plies", (json_int_t)p.plies,
                                  "started_pairs", p.started_pairs);
    ApiReply reply scope(api_reply_release) = {0};
    ApiCall call = {.method = "POST", .path = path, .body = body, .expects = "continue"};
    ApiOutcome outcome = api_call(&uploader->api, &call, &reply, &err);
    if (outcome == API_AWAY)
        return heartbeat_failed(uploader, &err, reply.retry_after_s);
    if (outcome == API_CANCELLED)
        return;
    heartbeat_answered(uploader);
    if (outcome == API_REFUSED)
        stop_task(uploader, task.id, err.message);
    else
        read_continue(uploader, task.id, reply.json);
}

// ---- messages -----------------------------------------------------------------------------------

static void set_summary(Status *status, void *ctx) {
    const json_t *test = ctx;
    if (member_int(test, "id") == status->test)
        snprintf(status->summary, sizeof status->summary, "%s", member_text(test, "summary"));
}

static const char *message_name(const Message *message, char out[64]) {
    if (!message->item)
        snprintf(out, 64, "%s of task %" PRId64, message->path, message->task);
    else
        snprintf(out, 64, "%s %d of task %" PRId64,
                 message->kind == MESSAGE_BATCH              ? "batch"
                 : message->item->kind == SPOOL_FAULT_REPORT ? "fault report"
                                                             : "other end of game",
                 message->item->seq, message->task);
    return out;
}

static void message_refused(Uploader *uploader, const Message *message, const Error *err) {
    char name[64];
    if (message->kind != MESSAGE_BATCH) {
        log_warn("%s was refused: %s", message_name(message, name), err->message);
        if (message->item)
            spool_remove(uploader->spool, message->item);
        return;
    }
    log_error("%s was refused and is kept in %s/refused: %s", message_name(message, name),
              uploader->spool, err->message);
    spool_put_aside(uploader->spool, message->item, err->message);
    stop_task(uploader, message->task, err->message);
}

// What became of a batch, for the log. Unknown words are those of a newer server.
static const char *uncounted(const json_t *reply) {
    static const struct {
        const char *word, *text;
    } words[] = {{"waits", ", and will count after those that are due before it"},
                 {"rerun", ", and does not count: its games were played again to check a machine"},
                 {"excluded", ", and does not count: a maintainer excluded it"},
                 {"late", ", and does not count: its task had ended"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(member_text(reply, "uncounted"), words[i].word) == 0)
            return words[i].text;
    return "";
}

static void message_accepted(Uploader *uploader, const Message *message, const json_t *reply) {
    char name[64];
    if (message->item)
        spool_remove(uploader->spool, message->item);
    log_debug("%s is stored%s", message_name(message, name), uncounted(reply));
    if (message->kind != MESSAGE_BATCH)
        return;
    status_update(set_summary, json_object_get(reply, "test"));
    api_read_credit(reply);
    read_continue(uploader, message->task, reply);
}

static void message_failed(Uploader *uploader, Message *message, const Delivery *d) {
    double pause_s = outage_wait(&uploader->api.identity->outage, &message->waiter, &d->error,
                                 d->reply.retry_after_s);
    pthread_mutex_lock(&uploader->lock);
    message->retry_s = uploader_now_s() + pause_s;
    message->failed = true;
    message->offline = d->error.status == 0;
    pthread_cond_broadcast(&uploader->changed);
    pthread_mutex_unlock(&uploader->lock);
}

// Only this thread removes messages from the outbox.
static void take_off(Uploader *uploader, Message *message) {
    bool waited = message->waiter.waits;
    outage_over(&uploader->api.identity->outage, &message->waiter, true);
    pthread_mutex_lock(&uploader->lock);
    uploader->unstored -= message->state == MESSAGE_UNSTORED;
    outbox_remove(&uploader->outbox, message);
    pthread_cond_broadcast(&uploader->changed);
    pthread_mutex_unlock(&uploader->lock);
    message_free(message);
    if (waited)
        retry_others(uploader);
}

// If the disk is full, the item is still sent. Until then it stays in memory, and is stored again
// later.
void uploader_store_item(Uploader *uploader, Message *message) {
    Error err = {0};
    bool stored = spool_write(uploader->spool, message->item, &err);
    pthread_mutex_lock(&uploader->lock);
    uploader->unstored -= stored;
    message->state = stored ? MESSAGE_READY : MESSAGE_UNSTORED;
    uploader->store_s = stored ? 0 : uploader_now_s() + pacing(store_again_s);
    bool all = uploader->unstored == 0;
    pthread_mutex_unlock(&uploader->lock);
    if (!stored && !uploader->disk_failed)
        log_warn("results cannot be written to disk and stay in memory until they are sent: %s",
                 err.message);
    if (all && uploader->disk_failed)
        log_info("results can be written to disk again");
    uploader->disk_failed = !stored || (uploader->disk_failed && !all);
}

void uploader_send_message(Uploader *uploader, Message *message) {
    Delivery d scope(delivery_release) = message_send(&uploader->api, message);
    if (d.outcome == API_CANCELLED)
        return;
    if (d.outcome == API_AWAY)
        return message_failed(uploader, message, &d);
    if (d.outcome == API_REFUSED)
        message_refused(uploader, message, &d.error);
    else
        message_accepted(uploader, message, d.reply.json);
    take_off(uploader, message);
}

void uploader_pack_batch(Uploader *uploader, Message *message) {
    PlayedBatch *played = message->played;
    BatchFacts facts = {played->tc, played->speed, played->busy, &played->load};
    SpoolItem *item = batch_finish(&played->batch, &facts);
    identity_sign(uploader->api.identity, played->test, item->task, item->counts);
    batch_release(&played->batch);
    free(played);
    pthread_mutex_lock(&uploader->lock);
    message->item = item;
    message->played = NULL;
    message->state = MESSAGE_UNSTORED;
    uploader->unstored++;
    pthread_mutex_unlock(&uploader->lock);
    uploader_store_item(uploader, message);
}
