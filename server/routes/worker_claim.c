// POST tasks/claim: waits until there is work, or long enough. See server/API.md.
#include <stdlib.h>
#include <string.h>

#include "server/accounts/machine.h"
#include "server/common/hash.h"
#include "server/ledger/ledger.h"
#include "server/ledger/outside.h"
#include "server/routes/respond.h"
#include "server/routes/worker_checks.h"
#include "server/routes/worker_handlers.h"
#include "server/routes/worker_task_document.h"

enum { SNAPSHOTS_MAX = 256, SPEEDS_MAX = 64, UNITS_MAX = 16 };

static bool speeds_check(json_t *speeds, Error *err) {
    const char *engine;
    json_t *speed;
    if (!json_is_object(speeds) || json_object_size(speeds) > SPEEDS_MAX)
        return error_field(err, 422, "bad_request", "speeds", "an object: engine, nodes/s");
    json_object_foreach (speeds, engine, speed) {
        double value = json_number_value(speed);
        if (!(value > 0 && value < 1e12))
            return error_field(err, 422, "bad_request", "speeds", "the speed of %.40s is no speed",
                               engine);
    }
    return true;
}

static bool read_holding(const json_t *list, Claim *claim, Error *err) {
    if (!json_is_array(list) || json_array_size(list) > LEDGER_HOLDING_MAX)
        return error_field(err, 422, "bad_request", "holding", "a list of at most %d tasks",
                           LEDGER_HOLDING_MAX);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!json_is_integer(json_array_get(list, i)))
            return error_field(err, 422, "bad_request", "holding", "ids are whole numbers");
        claim->holding[claim->holding_count++] = json_integer_value(json_array_get(list, i));
    }
    return true;
}

// Names that this server does not know are allowed: the worker may be newer.
static bool units_check(const json_t *units, Error *err) {
    size_t i;
    json_t *name;
    bool good = !units || (json_is_array(units) && json_array_size(units) <= UNITS_MAX);
    json_array_foreach (units, i, name)
        good = good && json_is_string(name);
    return good ||
           error_field(err, 422, "bad_request", "units", "a list of at most %d names", UNITS_MAX);
}

// The cached snapshots are not weighed yet: every engine here is small beside its games.
static bool snapshots_check(const json_t *list, Error *err) {
    if (json_is_array(list) && json_array_size(list) <= SNAPSHOTS_MAX)
        return true;
    return error_field(err, 422, "bad_request", "snapshots", "a list of at most %d names",
                       SNAPSHOTS_MAX);
}

static bool read_claim(Request *req, Claim *claim, double *wait_s, Error *err) {
    json_int_t protocol, cores, memory;
    json_t *snapshots, *holding;
    *claim =
        (Claim){.worker = req->viewer.worker_id, .key = request_header(req, "Idempotency-Key")};
    if (!request_json(req, err, "{s:I, s:I, s:I, s:o, s:o, s:o, s:F, s?o}", "protocol", &protocol,
                      "cores", &cores, "memory_mib", &memory, "speeds", &claim->speeds, "snapshots",
                      &snapshots, "holding", &holding, "wait_s", wait_s, "units", &claim->units) ||
        !protocol_check(protocol, err) || !number_check("cores", cores, 1, 4096, err) ||
        !number_check("memory_mib", memory, 1, 1 << 28, err) || !speeds_check(claim->speeds, err) ||
        !snapshots_check(snapshots, err) || !units_check(claim->units, err) ||
        !read_holding(holding, claim, err))
        return false;
    if (!(*wait_s >= 0 && *wait_s <= CLAIM_WAIT_MAX_S))
        return error_field(err, 422, "bad_request", "wait_s", "wait_s is 0 to %d",
                           CLAIM_WAIT_MAX_S);
    if (!claim->key || strlen(claim->key) < 8 || strlen(claim->key) > 64)
        return error_field(err, 422, "bad_request", "Idempotency-Key",
                           "a claim has an Idempotency-Key of 8 to 64 characters");
    claim->cores = (int)cores;
    claim->memory_mib = (int)memory;
    return true;
}

// Kept from the first call to the later ones, when it is woken.
typedef struct Waiting {
    double until;
    char request_hash[SHA256_HEX_MAX];
} Waiting;

static bool begin(Request *req, Turn *turn, Claim *claim, double wait_s, Error *err) {
    Waiting *waiting = xcalloc(1, sizeof *waiting);
    waiting->until = req->turn->now + wait_s;
    sha256_hex(req->body, req->body_size, waiting->request_hash);
    req->state = waiting;
    req->state_free = free;
    claim->request_hash = waiting->request_hash;
    return ledger_claim_begin(turn, claim, err);
}

static void tell_rest(Response *res, Turn *turn, int64_t worker) {
    double rest = ledger_rest_s(turn, worker);
    if (rest > 0)
        response_header(res, "Retry-After", "%.0f", rest);
}

bool task_claim(Request *req, Response *res, Error *err) {
    Claim claim;
    double wait_s;
    if (!read_claim(req, &claim, &wait_s, err) ||
        !machine_may_claim(req->turn, claim.worker, err) ||
        !outside_may_claim(req->turn->db, claim.worker, err) || !respond_disk_check(req, res, err))
        return false;
    if (!req->state && !begin(req, req->turn, &claim, wait_s, err)) {
        tell_rest(res, req->turn, claim.worker);
        return false;
    }
    const Waiting *waiting = req->state;
    claim.request_hash = waiting->request_hash;
    int64_t task = ledger_claim(req->turn, &claim, err);
    if (task < 0)
        return false;
    if (!task) {
        res->wait = WAIT_TASK; // a deadline that has passed is answered with 204
        res->wait_until = waiting->until;
        return true;
    }
    return task_document(req, res, task, err);
}
