// See worker_task_document.h.
#include "server/routes/worker_task_document.h"

#include <math.h>
#include <string.h>

#include "server/common/option_text.h"
#include "server/common/time_control.h"
#include "server/ledger/ending.h"
#include "server/ledger/ledger.h"
#include "server/ledger/workload.h"
#include "server/routes/worker_checks.h"
#include "server/storage/book.h"
#include "sql/worker.h"

// The options as an object of strings, in order.
static json_t *options_json(const char *options) {
    json_t *out = json_object();
    OptionText at = {.rest = options};
    while (option_text_next(&at))
        json_object_set_new(out, at.name, json_string(at.value));
    return out;
}

static json_t *text_or_null(const char *text) {
    return text ? json_string(text) : json_null();
}

// null, which no worker plays, if this server no longer has the workload.
static json_t *unit_json(const char *name) {
    const Workload *workload = workload_named(name);
    return text_or_null(workload ? workload_unit_name(workload->unit) : NULL);
}

static json_t *test_json(const SqlWorkerTask *task) {
    json_t *out = json_pack("{s:I, s:s}", "id", (json_int_t)task->test, "engine", task->engine);
    json_object_set_new(out, "title", json_string(task->title));
    json_object_set_new(out, "workload", json_string(task->workload));
    json_object_set_new(out, "unit", unit_json(task->workload));
    json_object_set_new(out, "batch_pairs", json_integer(task->batch_pairs));
    json_object_set_new(out, "variant", json_string(task->variant));
    json_object_set_new(out, "adjudication", json_loads(task->adjudication, 0, NULL));
    return out;
}

static json_t *build_json(const char *text) {
    json_t *build = json_loads(text, 0, NULL);
    if (!json_object_get(build, "files"))
        json_object_set_new(build, "files", json_array());
    return build;
}

static json_t *side_json(const SqlWorkerSides *side) {
    json_t *out = json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", side->side, "engine", side->engine,
                            "commit", side->commit, "snapshot", side->snapshot, "tc", side->tc);
    json_object_set_new(out, "build", build_json(side->build));
    json_object_set_new(out, "bench", side->has_bench ? json_integer(side->bench) : json_null());
    json_object_set_new(out, "options", options_json(side->options));
    json_object_set_new(out, "wants_options", json_boolean(side->wants_options));
    json_object_set_new(out, "threads", json_integer(side->threads));
    json_object_set_new(out, "margin_ms", json_integer(side->margin_ms));
    json_object_set_new(out, "files", json_loads(side->files, 0, NULL));
    return out;
}

static json_t *sides_json(Request *req, int64_t task) {
    json_t *out = json_array();
    SqlWorkerSidesRows rows scope(sql_rows_end) =
        sql_worker_sides(req->turn->db, .task = task, .most = OPTION_LISTS_MAX);
    while (sql_worker_sides_next(&rows))
        json_array_append_new(out, side_json(&rows.row));
    return out;
}

static json_t *scale_json(const SqlWorkerTask *task) {
    json_t *out = json_pack("{s:s, s:o}", "reference_commit", task->reference_commit,
                            "reference_snapshot", text_or_null(task->reference_snapshot));
    json_object_set_new(out, "reference_files", json_loads(task->reference_files, 0, NULL));
    json_object_set_new(out, "reference_speed", json_real(task->reference_speed));
    json_object_set_new(out, "min", json_real(task->scale_min));
    json_object_set_new(out, "max", json_real(task->scale_max));
    json_object_set_new(out, "build", build_json(task->build));
    return out;
}

// The games of the task that are played on if a rule ends them.
static json_t *play_on_json(const SqlWorkerTask *task) {
    json_t *out = json_array();
    for (int64_t i = 0; i < 2 * task->pair_count; i++)
        if (ending_is_wanted(task->seed, task->first_pair + i / 2, (int)(i % 2)))
            json_array_append_new(out, json_integer(i));
    return out;
}

static json_t *task_json(Request *req, const SqlWorkerTask *task) {
    double lease = task->lease_until - req->turn->now;
    json_t *out = json_pack("{s:I, s:f}", "id", (json_int_t)task->id, "lease_s", fmax(lease, 0));
    json_object_set_new(out, "first_pair", json_integer(task->first_pair));
    json_object_set_new(out, "pairs", json_integer(task->pair_count));
    json_object_set_new(out, "test", test_json(task));
    json_object_set_new(out, "sides", sides_json(req, task->id));
    json_object_set_new(out, "scale", scale_json(task));
    json_object_set_new(out, "told", json_loads(task->told, 0, NULL));
    json_object_set_new(out, "next",
                        json_pack("{s:I, s:n}", "seq", (json_int_t)task->next_seq, "options"));
    json_object_set_new(out, "play_on", play_on_json(task));
    json_object_set_new(out, "credit", credit_json(req));
    return out;
}

static bool plays_pairs(const SqlWorkerTask *task) {
    const Workload *workload = workload_named(task->workload);
    return !workload || workload->unit == UNIT_PAIR;
}

// The openings come last: they are text already, and the end of the document makes room for them.
static bool add_openings(Request *req, Response *res, const SqlWorkerTask *task, Error *err) {
    Str *body = &res->body;
    body->data[--body->size] = 0; // its last brace
    str_puts(body, ",\"openings\":");
    bool good = book_openings(req->site->data, task->book, task->seed, task->first_pair,
                              task->pair_count, body, err);
    str_putc(body, '}');
    return good;
}

bool task_document(Request *req, Response *res, int64_t id, Error *err) {
    SqlWorkerTask task scope(sql_row_free) = {0};
    if (!sql_worker_task(req->turn->db, &task, id))
        return error_set(err, 404, "no_such_task", "there is no task %lld", (long long)id);
    json_t *document = task_json(req, &task);
    if (!plays_pairs(&task))
        json_object_set_new(document, "openings", json_array());
    response_json(res, 200, document);
    return !plays_pairs(&task) || add_openings(req, res, &task, err);
}
