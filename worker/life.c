// See life.h.
#include "life.h"

#include <string.h>

#include "../server/common/hash.h"
#include "../server/common/log.h"
#include "backoff.h"
#include "patience.h"
#include "stop.h"

enum { CLAIM_WAIT_S = 50, CLAIM_TIMEOUT_S = 70, HOLDING_MAX = 8, SNAPSHOTS_MAX = 256 };

static const double flush_s = 60, farewell_s = 30, farewell_now_s = 2;

// Unsent batches go first: the claim tells the server what else this worker still holds.
static void flush(Worker *w) {
    for (double waited = 0; waited < flush_s && stop_level() == STOP_NO; waited++)
        if (courier_flush(w->courier, 1))
            return;
}

static json_t *claim_body(Worker *w, bool wait) {
    json_t *body =
        json_pack("{s:i, s:i, s:i, s:O, s:o, s:o, s:i}", "protocol", PROTOCOL, "cores",
                  w->host.cores, "memory_mib", w->host.memory_mib, "speeds", w->speeds, "snapshots",
                  store_blobs(&w->store, SNAPSHOTS_MAX), "holding",
                  courier_unsent(w->courier, HOLDING_MAX), "wait_s", wait ? (int)patience(CLAIM_WAIT_S) : 0);
    if (!body)
        fatal("out of memory");
    return body;
}

// API_OK with reply->json NULL: there is no work. One claim keeps its key until it is answered, so
// a reply that got lost is not a task that got lost.
static ApiOutcome claim(Worker *w, ApiReply *reply) {
    Error err = {0};
    char key[TOKEN_MAX];
    json_auto_t *body = claim_body(w, !w->config->fleet);
    ApiCall call = {.method = "POST",
                    .path = "tasks/claim",
                    .body = body,
                    .idempotency_key = token_random(key),
                    .expects = "id",
                    .may_be_empty = true,
                    .timeout_s = CLAIM_TIMEOUT_S};
    ApiOutcome outcome = api_insist(&w->api, &call, reply, &err);
    if (outcome == API_REFUSED)
        log_error("%s gives no work: %s", w->session.server, err.message);
    return outcome;
}

// Flags of the last task are lowered; an order to stop that came meanwhile is not forgotten.
static bool ready(Worker *w) {
    running_reset(&w->running);
    if (stop_level() == STOP_NO)
        return true;
    running_finish(&w->running);
    return false;
}

// One round; false when the worker is to leave.
static bool live_once(Worker *w, Backoff *failures) {
    ApiReply reply scope(api_reply_release) = {0};
    flush(w);
    if (!ready(w))
        return false;
    ApiOutcome outcome = claim(w, &reply);
    if (outcome == API_CANCELLED)
        return false;
    if (outcome == API_REFUSED)
        return !w->config->fleet && stop_sleep(backoff_next(failures, 0));
    if (!reply.json)
        return !w->config->fleet;
    api_read_credit(reply.json);
    TaskEnd end = task_run(w, reply.json);
    if (end == TASK_DONE)
        backoff_reset(failures);
    else if (end == TASK_FAILED && !w->config->once)
        return stop_sleep(backoff_next(failures, 0)); // a machine that fails fast burns no queue
    return end != TASK_HANDED_BACK && !w->config->once;
}

static void farewell(Worker *w) {
    bool sent = false;
    double patience = farewell_s;
    for (double waited = 0; waited < patience && !sent; waited += 0.5) {
        sent = courier_drain(w->courier, 0.5);
        patience = stop_level() == STOP_NOW ? farewell_now_s : farewell_s;
    }
    if (!sent)
        log_warn("unsent results stay on disk and are sent at the next start");
}

void life_run(Worker *worker) {
    Backoff failures = {0};
    while (stop_level() == STOP_NO && live_once(worker, &failures))
        ;
    farewell(worker);
}
