// For targets that call a worker's routes: a small installation in which machine 1 has an open
// task, and a request to a route with the given bytes as its body.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "server/http/request.h"
#include "server/routes/routes.h"
#include "server/routes/worker_handlers.h"
#include "tests/kit/ledger_kit.h"

typedef struct WorkerCall {
    LedgerKit kit;
    Site site;
    int64_t task; // 0: not opened yet
} WorkerCall;

static WorkerCall call_state;

static void call_close(void) {
    kit_close(&call_state.kit);
}

// Once for all inputs; the installation is removed when the process ends.
static inline WorkerCall *call_open(void) {
    WorkerCall *call = &call_state;
    if (call->task)
        return call;
    if (!kit_open(&call->kit))
        abort();
    atexit(call_close);
    kit_activate(&call->kit, 1);
    call->task = kit_claim(&call->kit, 1, 4, 0);
    if (call->task != 1)
        abort();
    call->site.data = call->kit.folder;
    return call;
}

static inline const Route *call_route(const char *method, const char *pattern) {
    const Route *route = routes_worker;
    while (route->method &&
           (strcmp(route->method, method) != 0 || strcmp(route->pattern, pattern) != 0))
        route++;
    if (!route->method)
        abort();
    return route;
}

static inline RequestData *call_request(WorkerCall *call, const Route *route, const void *body,
                                        size_t size) {
    static const char key[] = "Idempotency-Key";
    RequestData *request = request_new(&call->site, "/");
    request->route = route;
    request->req.turn = &call->kit.turn;
    request->req.viewer.worker_id = 1;
    request->req.params[0] = "1";
    request->req.params[1] = "0";
    params_add(&request->headers, key, strlen(key), "fuzz-key", 8);
    str_release(&request->raw);
    str_init(&request->raw, route->max_body);
    str_add(&request->raw, body, size);
    return request;
}

// Whether it was taken; a refusal must say why, and the database must not be asked for what it
// cannot do.
static inline bool call_made(const Route *route, RequestData *request, Error *err) {
    bool good = request_open_body(request, err) &&
                (!route->prepare || route->prepare(&request->req, &request->res, err)) &&
                route->apply(&request->req, &request->res, err);
    if (!good && (err->status < 400 || !err->message[0] || err->status == 503))
        abort();
    return good;
}

static inline void call_forget_events(WorkerCall *call) {
    turn_forget_events(&call->kit.turn, 0);
}
