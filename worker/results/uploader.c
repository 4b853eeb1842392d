// See uploader.h. Messages are sent in the order that outbox.h says, heartbeats in between. A
// message that failed waits by itself. Everything that waits for the network happens outside the
// lock.
#include "worker/results/uploader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/common/log.h"
#include "worker/api/version.h"
#include "worker/results/uploader_send.h"

static const double longest_wait_s = 60;

static void add_message(Uploader *c, const Message *message) {
    pthread_mutex_lock(&c->lock);
    outbox_add(&c->outbox, message);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
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

static void wait_until(Uploader *c, double when_s) {
    struct timespec until = {(time_t)when_s, (long)((when_s - (double)(time_t)when_s) * 1e9)};
    pthread_cond_timedwait(&c->changed, &c->lock, &until);
}

// ACTION_WAIT: until *soonest_s.
static Action due(const Uploader *c, Message **message, double *soonest_s) {
    double now = uploader_now_s();
    bool heartbeats = c->has_task && !c->task_stopped;
    *soonest_s = now + longest_wait_s;
    if ((*message = outbox_first_in(&c->outbox, MESSAGE_PENDING)))
        return ACTION_PACK;
    if (c->unstored && (*message = outbox_first_in(&c->outbox, MESSAGE_UNSTORED))) {
        if (now >= c->store_s)
            return ACTION_STORE;
        *soonest_s = fmin(*soonest_s, c->store_s);
    }
    if (heartbeats && now >= c->next_heartbeat_s)
        return ACTION_HEARTBEAT;
    if (heartbeats)
        *soonest_s = fmin(*soonest_s, c->next_heartbeat_s);
    *message = outbox_next(&c->outbox, now, soonest_s);
    return *message ? ACTION_SEND : ACTION_WAIT;
}

// Chooses the next action under the lock, and waits until there is one. Compresses all batches
// before it quits.
static Action next_action(Uploader *c, Message **message) {
    double soonest_s;
    Action action = ACTION_QUIT;
    pthread_mutex_lock(&c->lock);
    c->sending = false;
    pthread_cond_broadcast(&c->changed);
    while (!c->quit || outbox_first_in(&c->outbox, MESSAGE_PENDING)) {
        action = due(c, message, &soonest_s);
        if (action != ACTION_WAIT)
            break;
        action = ACTION_QUIT;
        wait_until(c, soonest_s);
    }
    c->sending = action != ACTION_QUIT;
    pthread_mutex_unlock(&c->lock);
    return action;
}

static void *uploader_thread(void *ctx) {
    Uploader *c = ctx;
    Message *message = NULL;
    for (Action action; (action = next_action(c, &message)) != ACTION_QUIT;) {
        if (action == ACTION_PACK)
            uploader_pack_batch(c, message);
        else if (action == ACTION_STORE)
            uploader_store_item(c, message);
        else if (action == ACTION_HEARTBEAT)
            uploader_send_heartbeat(c);
        else
            uploader_send_message(c, message);
    }
    return NULL;
}

static void load_spool(Uploader *c) {
    int count;
    SpoolItem **items scope(free_ptr) = spool_read(c->spool, &count);
    if (count)
        log_info("an earlier run left %d unsent results", count);
    for (int i = 0; i < count; i++)
        add_message(c, &(Message){.kind = items[i]->kind == SPOOL_BATCH ? MESSAGE_BATCH
                                                                        : MESSAGE_FAULT_REPORT,
                                  .state = MESSAGE_READY,
                                  .item = items[i],
                                  .task = items[i]->task});
}

Uploader *uploader_new(Identity *identity) {
    Uploader *c = xcalloc(1, sizeof *c);
    c->api = (Api){identity, client_new("patchmate-worker/" WORKER_VERSION, &c->cancel)};
    c->spool = xasprintf("%s/spool", identity->folder);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&c->lock, NULL);
    load_spool(c);
    if (pthread_create(&c->thread, NULL, uploader_thread, c) != 0)
        fatal("cannot start a thread");
    return c;
}

// The next action, except heartbeats.
static bool is_busy(const Uploader *c) {
    double soonest_s = uploader_now_s();
    return c->sending || outbox_first_in(&c->outbox, MESSAGE_PENDING) ||
           outbox_next(&c->outbox, uploader_now_s(), &soonest_s);
}

bool uploader_flush(Uploader *c, double patience_s) {
    double end = uploader_now_s() + patience_s;
    pthread_mutex_lock(&c->lock);
    while (is_busy(c) && uploader_now_s() < end)
        wait_until(c, end);
    bool tried = !is_busy(c);
    pthread_mutex_unlock(&c->lock);
    return tried;
}

bool uploader_drain(Uploader *c, double patience_s) {
    double end = uploader_now_s() + patience_s;
    pthread_mutex_lock(&c->lock);
    for (Message *l = c->outbox.first; l; l = l->next)
        l->retry_s = 0; // one try immediately
    pthread_cond_broadcast(&c->changed);
    while (c->outbox.first && uploader_now_s() < end)
        wait_until(c, end);
    bool empty = !c->outbox.first;
    pthread_mutex_unlock(&c->lock);
    return empty;
}

// Tries once more to store the items that are only in memory.
static void store_all(Uploader *c) {
    Error err = {0};
    for (Message *l = c->outbox.first; l; l = l->next)
        if (l->state == MESSAGE_UNSTORED && !spool_write(c->spool, l->item, &err))
            log_error("results are lost, because they cannot be written to disk: %s", err.message);
}

void uploader_free(Uploader *c) {
    if (!c)
        return;
    atomic_store(&c->cancel, true);
    pthread_mutex_lock(&c->lock);
    c->quit = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    store_all(c);
    for (Message *message; (message = c->outbox.first); message_free(message))
        outbox_remove(&c->outbox, message);
    client_free(c->api.client);
    free(c->spool);
    free(c);
}

void uploader_begin(Uploader *c, const UploaderTask *task) {
    pthread_mutex_lock(&c->lock);
    c->task = *task;
    c->has_task = true;
    c->task_stopped = false;
    c->next_heartbeat_s = uploader_now_s();
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

void uploader_heartbeat_soon(Uploader *c) {
    pthread_mutex_lock(&c->lock);
    c->next_heartbeat_s = uploader_now_s();
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

void uploader_end(Uploader *c) {
    pthread_mutex_lock(&c->lock);
    c->has_task = false;
    while (c->in_call)
        pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

void uploader_batch(Uploader *c, PlayedBatch *batch) {
    add_message(c, &(Message){.kind = MESSAGE_BATCH, .played = batch, .task = batch->batch.task});
}

void uploader_fault_report(Uploader *c, SpoolItem *item) {
    pthread_mutex_lock(&c->lock);
    outbox_add(&c->outbox, &(Message){.kind = MESSAGE_FAULT_REPORT,
                                      .state = MESSAGE_UNSTORED,
                                      .item = item,
                                      .task = item->task});
    c->unstored++;
    c->store_s = 0;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

void uploader_final_report(Uploader *c, int64_t task, const char *path, json_t *body) {
    Message message = {
        .kind = MESSAGE_FINAL_REPORT, .state = MESSAGE_READY, .task = task, .body = body};
    if (!body)
        fatal("out of memory");
    snprintf(message.path, sizeof message.path, "%s", path);
    add_message(c, &message);
}

json_t *uploader_unsent(Uploader *c, int max) {
    json_t *list = json_array();
    int64_t last = 0;
    pthread_mutex_lock(&c->lock);
    for (const Message *l = c->outbox.first; l && (int)json_array_size(list) < max; l = l->next)
        if (l->kind == MESSAGE_BATCH && l->task != last)
            json_array_append_new(list, json_integer(last = l->task));
    pthread_mutex_unlock(&c->lock);
    return list;
}
