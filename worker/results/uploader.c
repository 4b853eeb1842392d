// See courier.h. Letters go in the order that outbox.h says, heartbeats in between; each waits by itself
// when it was in vain. All that the network may hold up happens outside the lock.
#include "worker/results/uploader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/common/log.h"
#include "worker/results/uploader_internal.h"
#include "worker/setup/config.h"

static const double longest_wait_s = 60;

static void add_letter(Courier *c, const Letter *letter) {
    pthread_mutex_lock(&c->lock);
    outbox_add(&c->outbox, letter);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

// ---- the thread ---------------------------------------------------------------------------------

// What to do next, decided under the lock; waits until there is something.
typedef enum { DO_QUIT, DO_MAKE, DO_STORE, DO_HEARTBEAT, DO_SEND } Deed;

static void wait_until(Courier *c, double when_s) {
    struct timespec until = {(time_t)when_s, (long)((when_s - (double)(time_t)when_s) * 1e9)};
    pthread_cond_timedwait(&c->changed, &c->lock, &until);
}

// DO_QUIT: nothing until *soonest_s.
static Deed due(const Courier *c, Letter **letter, double *soonest_s) {
    double now = courier_now_s();
    bool heartbeats = c->has_task && !c->task_stopped;
    *soonest_s = now + longest_wait_s;
    if ((*letter = outbox_first_raw(&c->outbox)))
        return DO_MAKE;
    if (c->unstored && (*letter = outbox_first_unstored(&c->outbox))) {
        if (now >= c->store_s)
            return DO_STORE;
        *soonest_s = fmin(*soonest_s, c->store_s);
    }
    if (heartbeats && now >= c->next_heartbeat_s)
        return DO_HEARTBEAT;
    if (heartbeats)
        *soonest_s = fmin(*soonest_s, c->next_heartbeat_s);
    *letter = outbox_next(&c->outbox, now, soonest_s);
    return *letter ? DO_SEND : DO_QUIT;
}

static Deed next_deed(Courier *c, Letter **letter) {
    double soonest_s;
    Deed deed = DO_QUIT;
    pthread_mutex_lock(&c->lock);
    c->sending = false;
    pthread_cond_broadcast(&c->changed);
    while (!c->quit || outbox_first_raw(&c->outbox)) {
        deed = due(c, letter, &soonest_s);
        if (deed != DO_QUIT)
            break;
        wait_until(c, soonest_s);
    }
    c->sending = deed != DO_QUIT;
    pthread_mutex_unlock(&c->lock);
    return deed;
}

static void *courier_thread(void *ctx) {
    Courier *c = ctx;
    Letter *letter = NULL;
    for (Deed deed; (deed = next_deed(c, &letter)) != DO_QUIT;) {
        if (deed == DO_MAKE)
            courier_make_item(c, letter);
        else if (deed == DO_STORE)
            courier_store_item(c, letter);
        else if (deed == DO_HEARTBEAT)
            courier_send_heartbeat(c);
        else
            courier_send_letter(c, letter);
    }
    return NULL;
}

static void load_spool(Courier *c) {
    int count;
    SpoolItem **items scope(free_ptr) = spool_read(c->spool, &count);
    if (count)
        log_info("%d unsent results of an earlier run", count);
    for (int i = 0; i < count; i++)
        add_letter(
            c, &(Letter){.kind = items[i]->kind == SPOOL_BATCH ? LETTER_BATCH : LETTER_FAULT_REPORT,
                         .item = items[i],
                         .stored = true,
                         .task = items[i]->task});
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

// What is due now, heartbeats aside.
static bool is_busy(const Courier *c) {
    double soonest_s = courier_now_s();
    return c->sending || outbox_first_raw(&c->outbox) ||
           outbox_next(&c->outbox, courier_now_s(), &soonest_s);
}

bool courier_flush(Courier *c, double patience_s) {
    double end = courier_now_s() + patience_s;
    pthread_mutex_lock(&c->lock);
    while (is_busy(c) && courier_now_s() < end)
        wait_until(c, end);
    bool tried = !is_busy(c);
    pthread_mutex_unlock(&c->lock);
    return tried;
}

bool courier_drain(Courier *c, double patience_s) {
    double end = courier_now_s() + patience_s;
    pthread_mutex_lock(&c->lock);
    for (Letter *l = c->outbox.first; l; l = l->next)
        l->retry_s = 0; // one try at once, whatever was waited for
    pthread_cond_broadcast(&c->changed);
    while (c->outbox.first && courier_now_s() < end)
        wait_until(c, end);
    bool empty = !c->outbox.first;
    pthread_mutex_unlock(&c->lock);
    return empty;
}

// What is only in memory gets a last chance.
static void store_all(Courier *c) {
    Error err = {0};
    for (Letter *l = c->outbox.first; l; l = l->next)
        if (l->item && !l->stored && !spool_write(c->spool, l->item, &err))
            log_error("results are lost, they cannot be kept on disk: %s", err.message);
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
    store_all(c);
    for (Letter *letter; (letter = c->outbox.first); letter_free(letter))
        outbox_remove(&c->outbox, letter);
    client_free(c->api.client);
    free(c->spool);
    free(c);
}

void courier_begin(Courier *c, const CourierTask *task) {
    pthread_mutex_lock(&c->lock);
    c->task = *task;
    c->has_task = true;
    c->task_stopped = false;
    c->next_heartbeat_s = courier_now_s();
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

void courier_heartbeat_soon(Courier *c) {
    pthread_mutex_lock(&c->lock);
    c->next_heartbeat_s = courier_now_s();
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
    add_letter(c, &(Letter){.kind = LETTER_BATCH, .raw = batch, .task = batch->batch.task});
}

void courier_fault_report(Courier *c, SpoolItem *item) {
    pthread_mutex_lock(&c->lock);
    outbox_add(&c->outbox,
               &(Letter){.kind = LETTER_FAULT_REPORT, .item = item, .task = item->task});
    c->unstored++;
    c->store_s = 0;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

void courier_word(Courier *c, int64_t task, const char *path, json_t *body) {
    Letter letter = {.kind = LETTER_WORD, .task = task, .body = body};
    if (!body)
        fatal("out of memory");
    snprintf(letter.path, sizeof letter.path, "%s", path);
    add_letter(c, &letter);
}

json_t *courier_unsent(Courier *c, int max) {
    json_t *list = json_array();
    int64_t last = 0;
    pthread_mutex_lock(&c->lock);
    for (const Letter *l = c->outbox.first; l && (int)json_array_size(list) < max; l = l->next)
        if (l->kind == LETTER_BATCH && l->task != last)
            json_array_append_new(list, json_integer(last = l->task));
    pthread_mutex_unlock(&c->lock);
    return list;
}
