// The worker protocol's table, and the calls about a task that are a line or two of translation.
#include <string.h>
#include <unistd.h>

#include "server/common/hash.h"
#include "server/common/uci_option.h"
#include "server/git/snapshot.h"
#include "server/ledger/ending.h"
#include "server/ledger/ledger.h"
#include "server/routes/routes.h"
#include "server/routes/worker_checks.h"
#include "server/routes/worker_handlers.h"
#include "server/storage/blob.h"
#include "sql/git.h"
#include "sql/worker.h"

// ---- calls about a task -------------------------------------------------------------------------

static bool task_heartbeat(Request *req, Response *res, Error *err) {
    Heartbeat heartbeat = {.task = request_id(req, 0), .worker = req->viewer.worker_id};
    TaskReply reply;
    json_int_t plies, started_pairs;
    if (!request_json(req, err, "{s:s, s:I, s:I}", "phase", &heartbeat.phase, "plies", &plies,
                      "started_pairs", &started_pairs) ||
        !number_check("plies", plies, 0, INT64_MAX, err) ||
        !number_check("started_pairs", started_pairs, 0, INT64_MAX, err))
        return false;
    heartbeat.plies = plies;
    heartbeat.started_pairs = started_pairs;
    if (!ledger_heartbeat(req->turn, &heartbeat, &reply, err))
        return false;
    response_json(res, 200,
                  json_pack("{s:b, s:f, s:s}", "continue", reply.continues, "lease_s",
                            reply.lease_s, "why", reply.why));
    return true;
}

static json_t *batch_reply(Request *req, const BatchReply *r) {
    json_t *test = json_pack("{s:I, s:s, s:s, s:I}", "id", (json_int_t)r->test, "state", r->state,
                             "summary", r->summary, "units", (json_int_t)r->units);
    return json_pack("{s:b, s:b, s:b, s:s, s:b, s:s, s:o, s:{s:I, s:n}, s:o}", "stored", 1,
                     "repeat", r->repeat, "counted", r->counted, "uncounted", r->uncounted,
                     "continue", r->task.continues, "why", r->task.why, "test", test, "next", "seq",
                     (json_int_t)r->next_seq, "options", "credit", credit_json(req));
}

// The name of the games' blob, or null.
static bool games_name(const json_t *value, const char **name, Error *err) {
    *name = json_string_value(value);
    if (json_is_null(value) || (*name && sha256_is_hex(*name)))
        return true;
    return error_field(err, 422, "bad_request", "games_sha256", "64 hex digits or null");
}

// A number of the load: absent or null is unknown.
static bool load_number(const json_t *load, const char *name, double *out, Error *err) {
    const json_t *value = json_object_get(load, name);
    if (!value || json_is_null(value))
        return true;
    *out = json_number_value(value);
    return (json_is_number(value) && *out >= 0 && *out < 1e12) ||
           error_field(err, 422, "bad_request", "load", "load: %s is a number from 0, or null",
                       name);
}

static bool load_read(const json_t *json, Load *load, Error *err) {
    *load = LOAD_UNKNOWN;
    if (!json || json_is_null(json))
        return true;
    const struct {
        const char *name;
        double *value;
    } members[] = {{"delay", &load->delay},
                   {"steal", &load->steal},
                   {"swap_mib", &load->swap_mib},
                   {"rest_new", &load->rest_new},
                   {"rest_base", &load->rest_base},
                   {"speed", &load->speed},
                   {"speed_before", &load->speed_before}};
    size_t known = 0;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (!load_number(json, members[i].name, members[i].value, err))
            return false;
        known += json_object_get(json, members[i].name) != NULL;
    }
    return (json_is_object(json) && known == json_object_size(json)) ||
           error_field(err, 422, "bad_request", "load",
                       "load holds delay, steal, swap_mib, rest_new, rest_base, speed and "
                       "speed_before, or is null");
}

// A batch between `prepare` and `apply`. The strings and objects live as long as the request.
typedef struct BatchPost {
    Batch batch;
    char fault[sizeof((Error *)0)->message]; // of its games; "": none was found
} BatchPost;

// A thousand years: sums of such numbers do not overflow.
static const json_int_t THOUGHT_MAX_MS = 31556952000000;

bool batch_read(Request *req, Batch *batch, Error *err) {
    json_int_t seq, thought;
    json_t *result, *games, *load = NULL, *said = NULL;
    if (!request_json(req, err, "{s:I, s:o, s:s, s:F, s:F, s:I, s:o, s:s, s:s, s?o, s?o}", "seq",
                      &seq, "result", &result, "tc", &batch->tc, "speed", &batch->speed, "busy",
                      &batch->busy, "thought", &thought, "games_sha256", &games, "key",
                      &batch->public_key, "signature", &batch->signature, "load", &load, "said",
                      &said) ||
        !number_check("thought", thought, 0, THOUGHT_MAX_MS, err) ||
        !games_name(games, &batch->games_sha256, err) || !load_read(load, &batch->load, err) ||
        !said_read(said, batch, err) || !number_check("seq", seq, 0, INT32_MAX, err))
        return false;
    if (!json_is_object(result))
        return error_field(err, 422, "bad_request", "result", "result is an object");
    batch->task = request_id(req, 0);
    batch->worker = req->viewer.worker_id;
    batch->seq = seq;
    batch->result = result;
    batch->thought = thought;
    return true;
}

// Replays the games. That they cannot have been played is written down, so `apply` refuses them.
static bool batch_prepare(Request *req, Response *res, Error *err) {
    Turn reader = {.db = req->turn->db, .now = req->turn->now};
    BatchPost *post = xcalloc(1, sizeof *post);
    (void)res;
    req->state = post;
    req->state_free = free;
    if (!batch_read(req, &post->batch, err))
        return false;
    if (!ledger_batch_signed(&reader, &post->batch, err))
        return false;
    if (ledger_batch_replay(&reader, req->site->data, &post->batch, err))
        return true;
    if (strcmp(err->code, "replay_mismatch") != 0)
        return false;
    snprintf(post->fault, sizeof post->fault, "%s", err->message);
    return true;
}

static bool batch_apply(Request *req, Response *res, Error *err) {
    const BatchPost *post = req->state;
    BatchReply reply;
    if (*post->fault) {
        if (!ledger_batch_refuse(req->turn, &post->batch, post->fault, err))
            return false;
        error_set(err, 422, "replay_mismatch", "%s", post->fault);
        response_error(res, err);
        return true;
    }
    if (!ledger_batch(req->turn, &post->batch, &reply, err))
        return false;
    response_json(res, 200, batch_reply(req, &reply));
    return true;
}

static bool task_fail(Request *req, Response *res, Error *err) {
    Failure failure = {.task = request_id(req, 0), .worker = req->viewer.worker_id};
    json_t *bench = NULL;
    json_int_t started_pairs = 0;
    if (!request_json(req, err, "{s:s, s:s, s:s, s:s, s?o, s?I}", "kind", &failure.kind, "side",
                      &failure.side, "message", &failure.message, "log", &failure.log, "bench",
                      &bench, "started_pairs", &started_pairs))
        return false;
    if (bench && !json_is_null(bench) && !json_is_integer(bench))
        return error_field(err, 422, "bad_request", "bench", "bench is a count of nodes or null");
    failure.bench = json_integer_value(bench);
    failure.started_pairs = started_pairs;
    if (!ledger_fail(req->turn, &failure, err))
        return false;
    response_json(res, 200, json_object());
    return true;
}

static bool task_release(Request *req, Response *res, Error *err) {
    json_int_t started_pairs;
    if (!request_json(req, err, "{s:I}", "started_pairs", &started_pairs) ||
        !number_check("started_pairs", started_pairs, 0, INT64_MAX, err) ||
        !ledger_release(req->turn, request_id(req, 0), req->viewer.worker_id, started_pairs, err))
        return false;
    response_json(res, 200, json_object());
    return true;
}

static bool task_bench(Request *req, Response *res, Error *err) {
    const char *side, *options = NULL;
    json_int_t nodes;
    int64_t established;
    TaskReply reply;
    if (!request_json(req, err, "{s:s, s:I, s?s}", "side", &side, "nodes", &nodes, "options",
                      &options) ||
        !ledger_bench(req->turn, request_id(req, 0), req->viewer.worker_id, side, nodes,
                      &established, &reply, err) ||
        (options && !ledger_option_list(req->turn, request_id(req, 0), req->viewer.worker_id, side,
                                        options, err)))
        return false;
    response_json(res, 200,
                  json_pack("{s:o, s:b, s:b}", "bench",
                            established ? json_integer(established) : json_null(), "established",
                            established != 0, "continue", reply.continues));
    return true;
}

// ---- blobs --------------------------------------------------------------------------------------

// Makes a snapshot again whose blob is not on disk: the blob if workers may build it, and otherwise
// only the reply. So a download leaves nothing on disk that no worker needs.
static bool snapshot_restore(Request *req, Response *res, const char *sha, Error *err) {
    SqlSnapshotCommit commit scope(sql_row_free) = {0};
    if (!sql_snapshot_commit(req->turn->db, &commit, sha))
        return error_set(err, 404, "no_such_blob", "the blob is not on disk");
    git_repository *repo scope(repo_free) = repo_open(req->site->data, commit.engine, err);
    if (!repo)
        return false;
    if (commit.built)
        return snapshot_store(repo, commit.sha, sha, req->site->data, err);
    response_text(res, 200, "application/octet-stream", "");
    res->body.max = SNAPSHOT_TAR_MAX;
    return snapshot_again(repo, commit.sha, sha, &res->body, err) ||
           (strcmp(err->code, "no_such_commit") == 0 &&
            error_set(err, 404, "no_such_blob",
                      "the commit of this snapshot is no longer in the repository"));
}

static bool blob_get_route(Request *req, Response *res, Error *err) {
    const char *sha = req->params[0];
    if (!sha256_is_hex(sha) || !sql_worker_blob_open(req->turn->db, sha))
        return error_set(err, 404, "no_such_blob", "there is no such blob");
    char *path scope(free_ptr) = blob_path(req->site->data, sha);
    if (access(path, R_OK) < 0 && !snapshot_restore(req, res, sha, err))
        return false;
    response_header(res, "ETag", "\"%s\"", sha);
    response_header(res, "Cache-Control", "public, max-age=31536000, immutable");
    if (!res->body.size)
        response_file(res, "application/octet-stream", path);
    return true;
}

// A list of options has 64 KiB, and JSON may double each byte.
enum { BENCH_BODY_MAX = 2 * UCI_LIST_BYTES_MAX + 1024 };

// A batch of 1000 pairs is 1000 digits; a claim names at most 256 snapshots.
const Route routes_worker[] = {
    {"POST", "/api/v1/workers", ACCESS_ANYONE, 16384, NULL, worker_register},
    {"POST", "/api/v1/tasks/claim", ACCESS_WORKER, 65536, NULL, task_claim},
    {"GET", "/api/v1/blobs/{sha256}", ACCESS_ANYONE, 0, blob_get_route, NULL},
    {"POST", "/api/v1/tasks/{task}/heartbeat", ACCESS_WORKER_ENDS, 1024, NULL, task_heartbeat},
    {"PUT", "/api/v1/tasks/{task}/games/{seq}", ACCESS_WORKER_ENDS, GAMES_MAX, games_prepare,
     games_apply},
    {"POST", "/api/v1/tasks/{task}/batches", ACCESS_WORKER_ENDS, 4096, batch_prepare, batch_apply},
    {"POST", "/api/v1/tasks/{task}/bench", ACCESS_WORKER, BENCH_BODY_MAX, NULL, task_bench},
    {"POST", "/api/v1/tasks/{task}/fail", ACCESS_WORKER, 131072, NULL, task_fail},
    {"POST", "/api/v1/tasks/{task}/release", ACCESS_WORKER_ENDS, 1024, NULL, task_release},
    {"PUT", "/api/v1/tasks/{task}/faults/{seq}", ACCESS_WORKER, FAULT_REPORT_MAX,
     fault_report_prepare, fault_report_apply},
    {"PUT", "/api/v1/tasks/{task}/endings/{game}", ACCESS_WORKER, ENDING_BODY_MAX, ending_prepare,
     ending_apply},
    {0},
};
