// PUT tasks/T/faults/N: the worker's report of a game that an engine lost by its own fault. A
// reader checks and compresses the report; the ledger stores or only counts it. See server/API.md.
#include <stdlib.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/common/one_line.h"
#include "server/ledger/ledger.h"
#include "server/routes/worker_handlers.h"

enum { COMPRESSION = 6 };

typedef struct Upload {
    FaultReport fault_report;
    char sha[SHA256_HEX_MAX];
    Str content;
} Upload;

static void upload_free(void *state) {
    Upload *upload = state;
    str_release(&upload->content);
    free(upload);
}

// {"new": text, "base": text}; either may be missing.
static bool texts_check(const char *name, const json_t *texts, Error *err) {
    const char *new_text, *base_text;
    json_error_t why;
    if (!texts || json_unpack_ex((json_t *)texts, &why, JSON_STRICT, "{s?s, s?s}", "new", &new_text,
                                 "base", &base_text) == 0)
        return true;
    return error_field(err, 422, "bad_request", name, "%s: %s", name, why.text);
}

static json_t *texts_or_empty(json_t *texts) {
    return texts ? json_incref(texts) : json_object();
}

static void content_fill(Upload *upload, const char *pgn, json_t *protocol_log, json_t *errors) {
    json_auto_t *content =
        json_pack("{s:s, s:o, s:o}", "pgn", pgn, "protocol_log", texts_or_empty(protocol_log),
                  "errors", texts_or_empty(errors));
    char *text scope(free_ptr) = json_dumps(content, JSON_COMPACT);
    str_init(&upload->content, 2 * FAULT_REPORT_MAX);
    zstd_compress(text, strlen(text), COMPRESSION, &upload->content);
    upload->fault_report.content = upload->content.data;
    upload->fault_report.content_size = upload->content.size;
}

static bool upload_read(Request *req, Upload *upload, Error *err) {
    FaultReport *e = &upload->fault_report;
    const char *pgn;
    json_int_t pair, game;
    int overloaded;
    json_t *protocol_log = NULL, *errors = NULL;
    if (!request_json(req, err, "{s:I, s:I, s:s, s:s, s:s, s:b, s:s, s?o, s?o}", "pair", &pair,
                      "game", &game, "side", &e->side, "end", &e->end, "reason", &e->reason,
                      "overloaded", &overloaded, "pgn", &pgn, "protocol_log", &protocol_log,
                      "errors", &errors) ||
        !one_line_check("reason", e->reason, 0, 160, err) ||
        !texts_check("protocol_log", protocol_log, err) || !texts_check("errors", errors, err))
        return false;
    e->pair = pair;
    e->game = game;
    e->overloaded = overloaded != 0;
    content_fill(upload, pgn, protocol_log, errors);
    return true;
}

bool fault_report_prepare(Request *req, Response *res, Error *err) {
    (void)res;
    long seq;
    if (!parse_long(req->params[1], 0, FAULT_REPORT_OF_TASK - 1, &seq))
        return error_set(err, 404, "not_found", "the fault reports of a task are numbered 0 to %d",
                         FAULT_REPORT_OF_TASK - 1);
    Upload *upload = xcalloc(1, sizeof *upload);
    req->state = upload;
    req->state_free = upload_free;
    sha256_hex(req->body, req->body_size, upload->sha);
    upload->fault_report = (FaultReport){.task = request_id(req, 0),
                                         .worker = req->viewer.worker_id,
                                         .seq = seq,
                                         .sha256 = upload->sha};
    return upload_read(req, upload, err);
}

bool fault_report_apply(Request *req, Response *res, Error *err) {
    const Upload *upload = req->state;
    if (!ledger_fault_report(req->turn, &upload->fault_report, err))
        return false;
    response_json(res, 200, json_object());
    return true;
}
