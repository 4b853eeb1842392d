// Any bytes as the fault reports of a lost game. Refusals say why; what is kept is what came, byte
// for byte: its texts are read back as the page of a fault reads them, and compared with the body.
#include "tests/fuzz/worker_call.h"

#include <stdint.h>

#include "server/common/hash.h"
#include "sql/pages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The same in both; in the body an object may be missing.
static void compare(const json_t *body, const json_t *kept, const char *name) {
    json_auto_t *nothing = json_object();
    json_t *sent = json_object_get(body, name);
    if (!json_equal(sent ? sent : nothing, json_object_get(kept, name)))
        abort();
}

static void check_kept(WorkerCall *call, const void *body, size_t size) {
    Error err = {0};
    Str text scope(str_release);
    str_init(&text, 4 << 20);
    SqlPageFaultContentRows rows scope(sql_rows_end) =
        sql_page_fault_content(call->kit.db, db_last_id(call->kit.db));
    if (!sql_page_fault_content_next(&rows))
        abort();
    SqlBytes packed = rows.row.content;
    if (packed.data && !zstd_decompress(packed.data, packed.size, &text, &err))
        abort();
    if (!text.size) // counted and not kept
        return;
    json_auto_t *sent = json_loadb(body, size, 0, NULL);
    json_auto_t *kept = json_loadb(text.data, text.size, 0, NULL);
    if (!kept)
        abort();
    compare(sent, kept, "pgn");
    compare(sent, kept, "protocol_log");
    compare(sent, kept, "errors");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    WorkerCall *call = call_open();
    const Route *route = call_route("PUT", "/api/v1/tasks/{task}/faults/{seq}");
    if (size > route->max_body)
        return 0;
    Error err = {0};
    RequestData *request = call_request(call, route, data, size);
    db_savepoint(call->kit.db);
    if (call_made(route, request, &err))
        check_kept(call, data, size);
    db_savepoint_undo(call->kit.db);
    call_forget_events(call);
    request_free(request);
    return 0;
}
