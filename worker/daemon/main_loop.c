// See main_loop.h.
#include "worker/daemon/main_loop.h"

#include <stdio.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/common/log.h"
#include "worker/api/backoff.h"
#include "worker/api/version.h"
#include "worker/cache/trim.h"
#include "worker/console/pacing.h"
#include "worker/console/status.h"
#include "worker/console/stop.h"
#include "worker/daemon/upkeep.h"
#include "worker/task/task.h"

enum { CLAIM_WAIT_S = 50, CLAIM_TIMEOUT_S = 70, HOLDING_MAX = 8, SNAPSHOTS_MAX = 256 };

static const double flush_s = 60, drain_s = 30, drain_now_s = 2;

// While the server accepts no results, more games are useless. A claim can also name only
// HOLDING_MAX tasks.
static bool too_much_unsent(Worker *w) {
    json_auto_t *unsent = uploader_unsent(w->uploader, HOLDING_MAX);
    return json_array_size(unsent) >= HOLDING_MAX;
}

// Sends batches first: the claim lists the tasks whose results this worker still has.
static void flush(Worker *w) {
    for (double waited = 0; waited < flush_s && stop_level() == STOP_NO; waited++)
        if (uploader_flush(w->uploader, 1))
            break;
    while (too_much_unsent(w) && stop_sleep(pacing(1)))
        ;
}

static json_t *claim_body(Worker *w, bool wait) {
    json_t *body = json_pack("{s:i, s:i, s:i, s:O, s:o, s:o, s:o, s:i}", "protocol", PROTOCOL,
                             "cores", w->host.cores, "memory_mib", w->host.memory_mib, "speeds",
                             w->speeds, "snapshots", store_blobs(&w->store, SNAPSHOTS_MAX),
                             "holding", uploader_unsent(w->uploader, HOLDING_MAX), "units",
                             task_units(), "wait_s", wait ? (int)pacing(CLAIM_WAIT_S) : 0);
    if (!body)
        fatal("out of memory");
    return body;
}

// API_OK with reply->json NULL: there is no work. A claim keeps its key until it is answered: if
// the reply is lost, the next try gets the same task.
static ApiOutcome claim(Worker *w, ApiReply *reply, Error *err) {
    char key[TOKEN_MAX];
    json_auto_t *body = claim_body(w, !w->config->fleet);
    ApiCall call = {.method = "POST",
                    .path = "tasks/claim",
                    .body = body,
                    .idempotency_key = token_random(key),
                    .expects = "id",
                    .may_be_empty = true,
                    .timeout_s = CLAIM_TIMEOUT_S,
                    .reply_max = TASK_BYTES_MAX,
                    .values_max = TASK_VALUES_MAX};
    return api_insist(&w->api, &call, reply, err);
}

// Clears the flags of the last task. False if the worker was stopped meanwhile.
static bool ready(Worker *w) {
    running_reset(&w->running);
    if (stop_level() == STOP_NO)
        return true;
    running_finish(&w->running);
    return false;
}

// The state that lasts from one round to the next.
typedef struct LoopState {
    Worker *worker;
    Upkeep upkeep;
    Backoff failures;  // tasks that failed in a row
    Backoff refusals;  // claims that were refused or could not be made, in a row
    bool broken;       // this machine caused the failure of the last task
    char refused[256]; // the message of the last refusal
} LoopState;

// Waits without a claim; the status line says why. False if the worker must stop.
static bool wait_for(LoopState *loop, const char *why) {
    double seconds = backoff_next(&loop->refusals, 0);
    status_waiting(why, seconds);
    bool goes_on = stop_sleep(seconds);
    status_waiting(NULL, 0);
    return goes_on;
}

// The server refuses to give this machine work. The machine or the server must change first.
static bool wait_after_refusal(LoopState *loop, const Error *err) {
    const Worker *w = loop->worker;
    if (strcmp(loop->refused, err->message) != 0)
        log_error("%s gives no work: %s", w->identity.server, err->message);
    snprintf(loop->refused, sizeof loop->refused, "%.255s", err->message);
    return !w->config->fleet && wait_for(loop, loop->refused);
}

static bool work(LoopState *loop, json_t *document) {
    Worker *w = loop->worker;
    api_read_credit(document);
    TaskEnd end = task_run(w, document);
    loop->broken = end == TASK_END_BROKEN;
    if (end == TASK_END_DONE)
        backoff_reset(&loop->failures);
    else if (end != TASK_END_HANDED_BACK && !w->config->once)
        return stop_sleep(backoff_next(&loop->failures, 0)); // not to fail all tasks of the queue
    return end != TASK_END_HANDED_BACK && !w->config->once;
}

// One round. False if the worker must stop.
static bool run_round(LoopState *loop) {
    Error err = {0};
    Worker *w = loop->worker;
    ApiReply reply scope(api_reply_release) = {0};
    flush(w);
    if (!ready(w))
        return false;
    if (!upkeep_check(&loop->upkeep, w, loop->broken, &err))
        return wait_for(loop, err.message);
    ApiOutcome outcome = claim(w, &reply, &err);
    if (outcome == API_CANCELLED)
        return false;
    if (outcome == API_REFUSED)
        return wait_after_refusal(loop, &err);
    backoff_reset(&loop->refusals);
    loop->refused[0] = 0;
    return reply.json ? work(loop, reply.json) : !w->config->fleet;
}

static void drain(Worker *w) {
    bool sent = false;
    double limit_s = drain_s;
    for (double waited = 0; waited < limit_s && !sent; waited += 0.5) {
        sent = uploader_drain(w->uploader, 0.5);
        limit_s = stop_level() == STOP_NOW || stop_failed() ? drain_now_s : drain_s;
    }
    if (!sent)
        log_warn("unsent results stay on disk and are sent at the next start");
}

void main_loop_run(Worker *worker) {
    LoopState loop = {.worker = worker};
    while (stop_level() == STOP_NO && run_round(&loop))
        ;
    Trim trim;
    drain(worker);
    trim_store(&worker->store, (int64_t)worker->config->cache_mib << 20, 0, &trim);
}
