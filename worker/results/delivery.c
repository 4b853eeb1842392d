// See delivery.h.
#include "worker/results/delivery.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/log.h"

enum { UPLOAD_TIMEOUT_S = 120 };

void delivery_release(Delivery *delivery) {
    api_reply_release(&delivery->reply);
}

static ApiOutcome call(Api *api, Delivery *d, const ApiCall *what) {
    api_reply_release(&d->reply);
    return d->outcome = api_call(api, what, &d->reply, &d->error);
}

static ApiOutcome put_games(Api *api, SpoolItem *item, Delivery *d) {
    char path[80];
    if (!item->bytes || item->bytes_sent)
        return d->outcome = API_OK;
    snprintf(path, sizeof path, "tasks/%" PRId64 "/games/%d", item->task, item->seq);
    ApiCall put = {.method = "PUT",
                   .path = path,
                   .bytes = item->bytes,
                   .bytes_size = item->size,
                   .expects = "sha256",
                   .timeout_s = UPLOAD_TIMEOUT_S};
    call(api, d, &put);
    item->bytes_sent = d->outcome == API_OK;
    return d->outcome;
}

// An older server may refuse a member that it does not know; the batch is complete without it.
static bool forget_load(SpoolItem *item, const Delivery *d) {
    return d->outcome == API_REFUSED && strncmp(d->error.field, "load", 4) == 0 &&
           json_object_del(item->counts, "load") == 0;
}

static void post_counts(Api *api, SpoolItem *item, Delivery *d) {
    char path[80];
    snprintf(path, sizeof path, "tasks/%" PRId64 "/batches", item->task);
    ApiCall post = {.method = "POST", .path = path, .body = item->counts, .expects = "stored"};
    call(api, d, &post);
    if (forget_load(item, d))
        call(api, d, &post);
    if (d->outcome == API_REFUSED && strcmp(d->error.code, "games_missing") == 0 &&
        item->bytes_sent) {
        item->bytes_sent = false; // the server lost them: send them again
        d->outcome = API_AWAY;
    }
}

static void put_attachment(Api *api, const SpoolItem *item, Delivery *d) {
    char path[80];
    snprintf(path, sizeof path, "tasks/%" PRId64 "/%s/%d", item->task,
             item->kind == SPOOL_ENDING ? "endings" : "faults", item->seq);
    ApiCall put = {.method = "PUT",
                   .path = path,
                   .bytes = item->bytes,
                   .bytes_size = item->size,
                   .packed = true,
                   .timeout_s = UPLOAD_TIMEOUT_S};
    call(api, d, &put);
}

static void post_final_report(Api *api, const Message *message, Delivery *d) {
    char path[80];
    snprintf(path, sizeof path, "tasks/%" PRId64 "/%s", message->task, message->path);
    ApiCall post = {.method = "POST", .path = path, .body = message->body};
    call(api, d, &post);
}

Delivery message_send(Api *api, Message *message) {
    Delivery d = {.outcome = API_OK};
    if (message->kind == MESSAGE_FINAL_REPORT)
        post_final_report(api, message, &d);
    else if (message->kind == MESSAGE_ATTACHMENT)
        put_attachment(api, message->item, &d);
    else if (put_games(api, message->item, &d) == API_OK)
        post_counts(api, message->item, &d);
    return d;
}
