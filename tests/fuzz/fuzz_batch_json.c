// Any bytes as the body of a worker's call: the first picks the row of routes_worker ('a' the
// first, so that a new last row changes no seed), the rest is the body, about a task that is open.
// Refusals say why, and whatever was taken leaves books that balance.
#include "tests/fuzz/worker_call.h"

#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *nowhere;

// The table has a first row, and ends with an empty one.
static int count_routes(void) {
    int count = 1;
    while (routes_worker[count].method)
        count++;
    return count;
}

// A batch as if its games had been replayed, which the target `replay` does.
static bool batch_taken(RequestData *request, Error *err) {
    Batch batch = {0};
    BatchReply reply;
    bool good = request_open_body(request, err) && batch_read(&request->req, &batch, err);
    batch.replayed = true;
    good = good && ledger_batch(request->req.turn, &batch, &reply, err);
    if (!good && (err->status < 400 || !err->message[0]))
        abort();
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    WorkerCall *call = call_open();
    if (!nowhere && !(nowhere = fopen("/dev/null", "w")))
        abort();
    if (!size)
        return 0;
    unsigned row = (unsigned)data[0] - 'a';
    if (row >= (unsigned)count_routes())
        return 0;
    const Route *route = &routes_worker[row];
    bool writes_files = route->prepare == games_prepare;
    if (!route->apply || writes_files || size - 1 > route->max_body)
        return 0;
    Error err = {0};
    RequestData *request = call_request(call, route, data + 1, size - 1);
    db_savepoint(call->kit.db);
    bool is_batch = strstr(route->pattern, "/batches") != NULL;
    if ((is_batch ? batch_taken(request, &err) : call_made(route, request, &err)) &&
        ledger_check(call->kit.db, nowhere))
        abort();
    db_savepoint_undo(call->kit.db);
    call_forget_events(call);
    request_free(request);
    return 0;
}
