// needs: testkit server common sprt rules
// Any bytes as the body of a worker's call: the first picks the row of routes_worker, the rest is
// the body, about a task that is open. Refusals say why, and whatever was taken leaves books that
// balance.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../server/app.h"
#include "../../server/routes_worker.h"
#include "../kit/ledger_kit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static LedgerKit kit;
static App app;
static int routes;
static FILE *nowhere;

static void close_kit(void) {
    kit_close(&kit);
    fclose(nowhere);
}

static void open_once(void) {
    if (kit.db)
        return;
    nowhere = fopen("/dev/null", "w");
    if (!nowhere || !kit_open(&kit))
        abort();
    atexit(close_kit);
    kit_activate(&kit, 1);
    if (kit_claim(&kit, 1, 4, 0) != 1)
        abort();
    app.config.data = kit.folder;
    app.writer = kit.db;
    while (routes_worker[routes].method)
        routes++;
}

static RequestData *request_make(const Route *route, const uint8_t *body, size_t size) {
    RequestData *request = request_new(&app, "/");
    static const char key[] = "Idempotency-Key";
    request->route = route;
    request->req.db = kit.db;
    request->req.now = kit.ledger.now;
    request->req.viewer.worker_id = 1;
    request->req.params[0] = "1";
    request->req.params[1] = "0";
    pairs_add(&request->headers, key, strlen(key), "fuzz-key", 8);
    str_release(&request->raw);
    str_init(&request->raw, route->max_body);
    str_add(&request->raw, body, size);
    return request;
}

static void call(const Route *route, RequestData *request) {
    Error err = {0};
    db_savepoint(kit.db);
    bool good = request_open_body(request, &err) &&
                (!route->prepare || route->prepare(&request->req, &request->res, &err)) &&
                route->apply(&request->req, &request->res, &err);
    if (!good && (err.status < 400 || !err.message[0]))
        abort();
    if (!good && err.status == 503)
        abort(); // the database was asked for something that it cannot do
    if (good && ledger_check(kit.db, nowhere))
        abort();
    db_savepoint_undo(kit.db);
    while (app.news_count)
        json_decref(app.news[--app.news_count].data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    open_once();
    if (!size)
        return 0;
    const Route *route = &routes_worker[data[0] % routes];
    bool writes_files = route->prepare == games_prepare;
    if (!route->apply || writes_files || size - 1 > route->max_body)
        return 0;
    RequestData *request = request_make(route, data + 1, size - 1);
    call(route, request);
    request_free(request);
    return 0;
}
