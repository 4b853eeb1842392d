// See worker_task_document.h.
#include "server/routes/worker_task_document.h"

#include <string.h>

#include "server/common/json_member.h"
#include "server/common/time_control.h"
#include "server/db/settings.h"
#include "server/routes/worker_checks.h"
#include "server/storage/book.h"

static json_t *member(const json_t *row, const char *key) {
    return json_object_get(row, key);
}

// "Hash=16 Name=value" as an object of strings, in order.
static json_t *options_json(const char *options) {
    json_t *out = json_object();
    while (*options) {
        size_t size = strcspn(options, " ");
        const char *equals = memchr(options, '=', size);
        if (equals) {
            char *name scope(free_ptr) = xstrndup(options, (size_t)(equals - options));
            json_object_set_new(out, name,
                                json_stringn(equals + 1, size - (size_t)(equals - options) - 1));
        }
        options += size + strspn(options + size, " ");
    }
    return out;
}

static json_t *side_json(const json_t *row, const char *side) {
    char commit[16], snapshot[16], bench[16], options[16], files[16];
    snprintf(commit, sizeof commit, "%s_commit", side);
    snprintf(snapshot, sizeof snapshot, "%s_snapshot", side);
    snprintf(bench, sizeof bench, "%s_bench", side);
    snprintf(options, sizeof options, "%s_options", side);
    snprintf(files, sizeof files, "%s_files", side);
    return json_pack("{s:O, s:O, s:O, s:o, s:O, s:O}", "commit", member(row, commit), "snapshot",
                     member(row, snapshot), "bench", member(row, bench), "options",
                     options_json(member_text(row, options)), "tc", member(row, "tc"), "files",
                     member(row, files));
}

static json_t *test_json(const json_t *row) {
    return json_pack("{s:O, s:O, s:O, s:O, s:O, s:O, s:O, s:O}", "id", member(row, "test_id"),
                     "engine", member(row, "engine"), "title", member(row, "title"), "kind",
                     member(row, "kind"), "batch_pairs", member(row, "batch_pairs"), "threads",
                     member(row, "threads"), "variant", member(row, "variant"), "adjudication",
                     member(row, "adjudication"));
}

static json_t *build_json(const json_t *row) {
    json_t *build = json_copy(member(row, "build"));
    if (!json_object_get(build, "files"))
        json_object_set_new(build, "files", json_array());
    return build;
}

static json_t *scale_json(Request *req, const json_t *row) {
    TimeControl tc;
    Error ignored;
    if (!tc_parse(member_text(row, "tc"), &tc, &ignored) || !tc_is_scaled(&tc))
        return json_null();
    return json_pack(
        "{s:O, s:O, s:O, s:O, s:O, s:O, s:I}", "reference_commit", member(row, "reference_commit"),
        "reference_snapshot", member(row, "reference_snapshot"), "reference_files",
        member(row, "reference_files"), "reference_speed", member(row, "reference_speed"), "min",
        member(row, "scale_min"), "max", member(row, "scale_max"), "margin_ms",
        (json_int_t)setting_whole(req->turn->db, SETTING_MARGIN_MS));
}

// The openings come last: they are text already, and the end of the document makes room for them.
static bool add_openings(Request *req, Response *res, const json_t *row, Error *err) {
    Str *body = &res->body;
    body->data[--body->size] = 0; // its last brace
    str_puts(body, ",\"openings\":");
    bool good =
        book_openings(req->site->data, member_text(row, "book"), member_int(row, "seed"),
                      member_int(row, "first_pair"), member_int(row, "pair_count"), body, err);
    str_putc(body, '}');
    return good;
}

bool task_document(Request *req, Response *res, int64_t task, Error *err) {
    json_auto_t *row = db_row(req->turn->db, SQL_WORKER_TASK, "i", task);
    if (!row)
        return error_set(err, 404, "no_such_task", "there is no task %lld", (long long)task);
    double lease = json_number_value(member(row, "lease_until")) - req->turn->now;
    json_t *document =
        json_pack("{s:O, s:f, s:O, s:O, s:o, s:{s:o, s:o}, s:o, s:o, s:{s:O, s:n}, s:o}", "id",
                  member(row, "id"), "lease_s", lease > 0 ? lease : 0, "first_pair",
                  member(row, "first_pair"), "pairs", member(row, "pair_count"), "test",
                  test_json(row), "sides", "new", side_json(row, "new"), "base",
                  side_json(row, "base"), "build", build_json(row), "scale", scale_json(req, row),
                  "next", "seq", member(row, "next_seq"), "options", "credit", credit_json(req));
    response_json(res, 200, document);
    return add_openings(req, res, row, err);
}
