// The uploader: the thread through which results leave the machine (uploader.h).
//
// Other threads only add to the queue and return: a batch that was just played, an attachment, or
// the final report on a task. At the start the queue holds the results that an earlier run left on
// disk. The thread repeats three steps: choose the most urgent action under the lock, release the
// lock, carry the action out. The actions, in order of urgency: compress a batch and write it to
// disk; write items to disk for which there was no room before; send the heartbeat of the current
// task; send the next message that outbox.h allows. A message leaves the queue, and its files are
// removed, when the server has accepted or refused it; a refused batch is kept in the folder
// `refused`. If the server does not answer, the message waits, for longer after each failure, and
// other messages are tried meanwhile. Every reply also says whether the task goes on; if not, the
// thread stops its games.
//
// The lock is never held during a call to the server or a write to disk. A slot that hands over a
// batch waits neither for its compression nor for the network. An item that cannot be written to
// disk is sent from memory. No batch is discarded because it is old or because sending failed: at
// its end the worker leaves the unsent items on disk for its next start. Only a final report is not
// written to disk; if it is lost, the server ends the task when its heartbeats stop.
#include "worker/results/uploader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/common/log.h"
#include "worker/api/version.h"
#include "worker/results/uploader_send.h"

static const double longest_wait_s = 60;

static void add_message(Uploader *uploader, const Message *message) {
    pthread_mutex_lock(&uploader->lock);
    outbox_add(&uploader->outbox, message);
    pthread_cond_broadcast(&uploader->changed);
    pthread_mutex_unlock(&uploader->lock);
}

// ---- the thread ---------------------------------------------------------------------------------

typedef enum {
    ACTION_WAIT, // there is nothing to do yet
    ACTION_QUIT,
    ACTION_PACK,
    ACTION_STORE,
    ACTION_HEARTBEAT,
    ACTION_SEND
} Action;

static void wait_until(Uploader *uploader, double when_s) {
    struct timespec until = {(time_t)when_s, (long)((when_s - (double)(time_t)when_s) * 1e9)};
    pthread_cond_timedwait(&uploader->changed, &uploader->lock, &until);
}

// ACTION_WAIT: until *soonest_s.
static Action due(const Uploader *uploader, Message **message, double *soonest_s) {
    double now = uploader_now_s();
    bool heartbeats = uploader->has_task && !uploader->task_stopped;
    *soonest_s = now + longest_wait_s;
    if ((*message = outbox_first_in(&uploader->outbox, MESSAGE_PENDING)))
        return ACTION_PACK;
    if (uploader->unstored && (*message = outbox_first_in(&uploader->outbox, MESSAGE_UNSTORED))) {
        if (now >= uploader->store_s)
            return ACTION_STORE;
        *soonest_s = fmin(*soonest_s, uploader->store_s);
    }
    if (heartbeats && now >= uploader->next_heartbeat_s)
        return ACTION_HEARTBEAT;
    if (heartbeats)
        *soonest_s = fmin(*soonest_s, uploader->next_heartbeat_s);
    *message = outbox_next(&uploader->outbox, now, soonest_s);
    return *message ? ACTION_SEND : ACTION_WAIT;
}

// Chooses the next action under the lock, and waits until there is one. Compresses all batches
// before it quits.
static Action next_action(Uploader *uploader, Message **message) {
    double soonest_s;
    Action action = ACTION_QUIT;
    pthread_mutex_lock(&uploader->lock);
    uploader->sending = false;
    pthread_cond_broadcast(&uploader->changed);
    while (!uploader->quit || outbox_first_in(&uploader->outbox, MESSAGE_PENDING)) {
        action = due(uploader, message, &soonest_s);
        if (action != ACTION_WAIT)
            break;
        action = ACTION_QUIT;
        wait_until(uploader, soonest_s);
    }
    uploader->sending = action != ACTION_QUIT;
    pthread_mutex_unlock(&uploader->lock);
    return action;
}

static void *uploader_thread(void *ctx) {
    Uploader *uploader = ctx;
    Message *message = NULL;
    for (Action action; (action = next_action(uploader, &message)) != ACTION_QUIT;) {
        if (action == ACTION_PACK)
            uploader_pack_batch(uploader, message);
        else if (action == ACTION_STORE)
            uploader_store_item(uploader, message);
        else if (action == ACTION_HEARTBEAT)
            uploader_send_heartbeat(uploader);
        else
            uploader_send_message(uploader, message);
    }
    return NULL;
}

static void load_spool(Uploader *uploader) {
    int count;
    SpoolItem **items scope(free_ptr) = spool_read(uploader->spool, &count);
    if (count)
        log_info("an earlier run left %d unsent results", count);
    for (int i = 0; i < count; i++)
        add_message(uploader, &(Message){.kind = items[i]->kind == SPOOL_BATCH ? MESSAGE_BATCH
                                                                               : MESSAGE_ATTACHMENT,
                                         .state = MESSAGE_READY,
                                         .item = items[i],
                                         .task = items[i]->task});
}

Uploader *uploader_new(Identity *identity) {
    Uploader *uploader = xcalloc(1, sizeof *uploader);
    uploader->api =
        (Api){identity, client_new("patchmate-worker/" WORKER_VERSION, &uploader->cancel)};
    uploader->spool = xasprintf("%s/spool", identity->folder);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&uploader->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&uploader->lock, NULL);
    load_spool(uploader);
    if (pthread_create(&uploader->thread, NULL, uploader_thread, uploader) != 0)
        fatal("cannot start a thread");
    return uploader;
}

// The next action, except heartbeats.
static bool is_busy(const Uploader *uploader) {
    double soonest_s = uploader_now_s();
    return uploader->sending || outbox_first_in(&uploader->outbox, MESSAGE_PENDING) ||
           outbox_next(&uploader->outbox, uploader_now_s(), &soonest_s);
}

bool uploader_flush(Uploader *uploader, double patience_s) {
    double end = uploader_now_s() + patience_s;
    pthread_mutex_lock(&uploader->lock);
    while (is_busy(uploader) && uploader_now_s() < end)
        wait_until(uploader, end);
    bool tried = !is_busy(uploader);
    pthread_mutex_unlock(&uploader->lock);
    return tried;
}

bool uploader_drain(Uploader *uploader, double patience_s) {
    double end = uploader_now_s() + patience_s;
    pthread_mutex_lock(&uploader->lock);
    for (Message *message = uploader->outbox.first; message; message = message->next)
        message->retry_s = 0; // one try immediately
    pthread_cond_broadcast(&uploader->changed);
    while (uploader->outbox.first && uploader_now_s() < end)
        wait_until(uploader, end);
    bool empty = !uploader->outbox.first;
    pthread_mutex_unlock(&uploader->lock);
    return empty;
}

// Tries once more to store the items that are only in memory.
static void store_all(Uploader *uploader) {
    Error err = {0};
    for (Message *message = uploader->outbox.first; message; message = message->next)
        if (message->state == MESSAGE_UNSTORED &&
            !spool_write(uploader->spool, message->item, &err))
            log_error("results are lost, because they cannot be written to disk: %s", err.message);
}

void uploader_free(Uploader *uploader) {
    if (!uploader)
        return;
    atomic_store(&uploader->cancel, true);
    pthread_mutex_lock(&uploader->lock);
    uploader->quit = true;
    pthread_cond_broadcast(&uploader->changed);
    pthread_mutex_unlock(&uploader->lock);
    pthread_join(uploader->thread, NULL);
    store_all(uploader);
    for (Message *message; (message = uploader->outbox.first); message_free(message))
        outbox_remove(&uploader->outbox, message);
    client_free(uploader->api.client);
    free(uploader->spool);
    free(uploader);
}

void uploader_begin(Uploader *uploader, const UploaderTask *task) {
    pthread_mutex_lock(&uploader->lock);
    uploader->task = *task;
    uploader->has_task = true;
    uploader->task_stopped = false;
    uploader->next_heartbeat_s = uploader_now_s();
    pthread_cond_broadcast(&uploader->changed);
    pthread_mutex_unlock(&uploader->lock);
}

void uploader_heartbeat_soon(Uploader *uploader) {
    pthread_mutex_lock(&uploader->lock);
    uploader->next_heartbeat_s = uploader_now_s();
    pthread_cond_broadcast(&uploader->changed);
    pthread_mutex_unlock(&uploader->lock);
}

void uploader_end(Uploader *uploader) {
    pthread_mutex_lock(&uploader->lock);
    uploader->has_task = false;
    while (uploader->in_call)
        pthread_cond_wait(&uploader->changed, &uploader->lock);
    pthread_mutex_unlock(&uploader->lock);
}

void uploader_batch(Uploader *uploader, PlayedBatch *batch) {
    add_message(uploader,
                &(Message){.kind = MESSAGE_BATCH, .played = batch, .task = batch->batch.task});
}

void uploader_attachment(Uploader *uploader, SpoolItem *item) {
    pthread_mutex_lock(&uploader->lock);
    outbox_add(&uploader->outbox, &(Message){.kind = MESSAGE_ATTACHMENT,
                                             .state = MESSAGE_UNSTORED,
                                             .item = item,
                                             .task = item->task});
    uploader->unstored++;
    uploader->store_s = 0;
    pthread_cond_broadcast(&uploader->changed);
    pthread_mutex_unlock(&uploader->lock);
}

void uploader_final_report(Uploader *uploader, int64_t task, const char *path, json_t *body) {
    Message message = {
        .kind = MESSAGE_FINAL_REPORT, .state = MESSAGE_READY, .task = task, .body = body};
    if (!body)
        fatal("out of memory");
    snprintf(message.path, sizeof message.path, "%s", path);
    add_message(uploader, &message);
}

json_t *uploader_unsent(Uploader *uploader, int max) {
    json_t *list = json_array();
    int64_t last = 0;
    pthread_mutex_lock(&uploader->lock);
    for (const Message *message = uploader->outbox.first;
         message && (int)json_array_size(list) < max; message = message->next)
        if (message->kind == MESSAGE_BATCH && message->task != last)
            json_array_append_new(list, json_integer(last = message->task));
    pthread_mutex_unlock(&uploader->lock);
    return list;
}
