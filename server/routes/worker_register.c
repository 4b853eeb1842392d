// POST workers: a machine introduces itself and gets a token of its own. See server/API.md.
#include <string.h>

#include "server/common/address.h"
#include "server/common/hash.h"
#include "server/common/one_line.h"
#include "server/ledger/ledger.h"
#include "server/routes/worker_checks.h"
#include "server/routes/worker_handlers.h"

enum { REGISTRATIONS_PER_HOUR = 200, COMPILERS_MAX = 16 };

typedef struct Introduction {
    json_int_t protocol, cores;
    const char *name, *version, *key;
    json_t *host, *user_token;
} Introduction;

typedef struct Owner {
    int64_t id;
    char name[40], token_hash[SHA256_HEX_MAX]; // "": none
} Owner;

static bool compilers_check(const json_t *compilers, Error *err) {
    if (!json_is_array(compilers) || json_array_size(compilers) > COMPILERS_MAX)
        return error_field(err, 422, "bad_request", "compilers", "a list of at most %d names",
                           COMPILERS_MAX);
    for (size_t i = 0; i < json_array_size(compilers); i++) {
        const char *name = json_string_value(json_array_get(compilers, i));
        if (!name)
            return error_field(err, 422, "bad_request", "compilers",
                               "compilers is a list of names");
        if (!one_line_check("compilers", name, 1, 100, err))
            return false;
    }
    return true;
}

static bool host_check(Introduction *in, Error *err) {
    const char *os, *arch, *cpu, *isa = "";
    json_int_t logical, memory, sandbox;
    json_t *compilers;
    json_error_t why;
    if (json_unpack_ex(in->host, &why, JSON_STRICT, "{s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:I, s?s}",
                       "os", &os, "arch", &arch, "cpu", &cpu, "physical_cores", &in->cores,
                       "logical_cores", &logical, "memory_mib", &memory, "compilers", &compilers,
                       "sandbox", &sandbox, "isa", &isa) < 0)
        return error_field(err, 422, "bad_request", "host", "host: %s", why.text);
    return one_line_check("os", os, 1, 200, err) && one_line_check("arch", arch, 1, 64, err) &&
           one_line_check("cpu", cpu, 0, 200, err) && one_line_check("isa", isa, 0, 32, err) &&
           number_check("physical_cores", in->cores, 1, 4096, err) &&
           number_check("logical_cores", logical, 1, 8192, err) &&
           number_check("memory_mib", memory, 1, 1 << 28, err) &&
           number_check("sandbox", sandbox, 0, 2, err) && compilers_check(compilers, err);
}

static bool read_introduction(Request *req, Introduction *in, Error *err) {
    *in = (Introduction){0};
    if (!request_json(req, err, "{s:I, s:s, s:s, s:s, s:o, s?o}", "protocol", &in->protocol, "name",
                      &in->name, "version", &in->version, "machine_key", &in->key, "host",
                      &in->host, "user_token", &in->user_token) ||
        !protocol_check(in->protocol, err) || !one_line_check("name", in->name, 1, 64, err) ||
        !one_line_check("version", in->version, 1, 32, err) ||
        !one_line_check("machine_key", in->key, 16, 128, err))
        return false;
    if (strchr(in->key, ' '))
        return error_field(err, 422, "bad_request", "machine_key", "machine_key has no blanks");
    return host_check(in, err);
}

// The account that the machine's games will belong to; id 0 without a user's token.
static bool find_owner(Request *req, const Introduction *in, Owner *owner, Error *err) {
    *owner = (Owner){0};
    if (!in->user_token || json_is_null(in->user_token)) {
        if (strcmp(request_setting(req, "accounts_required", "0"), "1") == 0)
            return error_field(err, 403, "accounts_required", "user_token",
                               "this server wants an account: start the worker with --token-file");
        return true;
    }
    const char *token = json_string_value(in->user_token);
    if (!token)
        return error_field(err, 422, "bad_request", "user_token", "user_token is text or null");
    sha256_hex(token, strlen(token), owner->token_hash);
    Query q = query(req->turn->db, SQL_WORKER_USER_OF_TOKEN, "s", owner->token_hash);
    if (!query_step(&q))
        return error_field(err, 401, "bad_token", "user_token",
                           "this is no token of scope worker; make one on your account's page");
    owner->id = query_int(&q, COL_WORKER_USER_OF_TOKEN_ID);
    snprintf(owner->name, sizeof owner->name, "%s", query_text(&q, COL_WORKER_USER_OF_TOKEN_NAME));
    query_end(&q);
    return true;
}

// 0: a new machine; -1: one that may not work here.
static int64_t find_machine(Request *req, const char *key_hash, Error *err) {
    int64_t id = 0;
    char barred[8] = "";
    Query q = query(req->turn->db, SQL_WORKER_BY_KEY, "s", key_hash);
    if (query_step(&q)) {
        id = query_int(&q, COL_WORKER_BY_KEY_ID);
        snprintf(barred, sizeof barred, "%s", query_text(&q, COL_WORKER_BY_KEY_BARRED));
        query_end(&q);
    }
    return !strcmp(barred, "token") || machine_may_work(barred, err) ? id : -1;
}

// A machine that is blocked, or whose account is, is not to come back under a new key. The match is
// by what machines say of themselves: it stops the simple case, and accounts_required the others.
static bool newcomer_check(Request *req, const Introduction *in, const Owner *owner,
                           const char *network, const char *host, Error *err) {
    return !db_int_named(req->turn->db, SQL_WORKER_IS_BARRED_ONE, 0,
                         json_pack("{s:s, s:s, s:s, s:I}", "network", network, "name", in->name,
                                   "host", host, "user_id", (json_int_t)owner->id)) ||
           error_set(err, 403, "blocked",
                     "a machine like this one, of this account or network, is blocked; ask the "
                     "operator");
}

static bool limit_check(Request *req, Response *res, const char *network, Error *err) {
    long limit;
    if (!parse_long(request_setting(req, "registrations_per_hour", ""), 0, 1000000, &limit))
        limit = REGISTRATIONS_PER_HOUR;
    int64_t there =
        db_int(req->turn->db, SQL_WORKER_REGISTRATIONS, 0, "sd", network, req->turn->now - 3600);
    if (there < limit)
        return true;
    response_header(res, "Retry-After", "600");
    return error_set(err, 429, "too_many_registrations",
                     "%lld machines registered from this address within an hour", (long long)there);
}

// The row of machine *id; 0: a new one, whose id then stands there.
static bool machine_store(Request *req, int64_t *id, const Introduction *in, const Owner *owner,
                          const char *key_hash, const char *token_hash, const char *network,
                          const char *host, Error *err) {
    Db *db = req->turn->db;
    json_t *values =
        json_pack("{s:s, s:I, s:s, s:s, s:s, s:s, s:s, s:f, s:s}", "token_hash", token_hash,
                  "user_id", (json_int_t)owner->id, "name", in->name, "version", in->version,
                  "host", host, "address", req->address, "network", network, "now", req->turn->now,
                  "user_token_hash", owner->token_hash);
    if (*id) {
        json_object_set_new(values, "id", json_integer(*id));
        return db_write(db, err, SQL_WORKER_AGAIN, values);
    }
    json_object_set_new(values, "machine_key_hash", json_string(key_hash));
    json_object_set_new(values, "cores", json_integer(in->cores));
    bool good = db_write(db, err, SQL_WORKER_ADD, values);
    *id = db_last_id(db);
    return good;
}

bool worker_register(Request *req, Response *res, Error *err) {
    Introduction in;
    Owner owner;
    char key_hash[SHA256_HEX_MAX], token[TOKEN_MAX], token_hash[SHA256_HEX_MAX];
    char network[ADDRESS_MAX];
    if (!read_introduction(req, &in, err) || !find_owner(req, &in, &owner, err))
        return false;
    sha256_hex(in.key, strlen(in.key), key_hash);
    token_random(token);
    sha256_hex(token, strlen(token), token_hash);
    address_network(req->address, network);
    char *host scope(free_ptr) = json_dumps(in.host, JSON_COMPACT | JSON_SORT_KEYS);
    int64_t id = find_machine(req, key_hash, err);
    int status = id ? 200 : 201;
    if (id < 0 || (!id && (!newcomer_check(req, &in, &owner, network, host, err) ||
                           !limit_check(req, res, network, err))))
        return false;
    if (!machine_store(req, &id, &in, &owner, key_hash, token_hash, network, host, err))
        return false;
    response_json(res, status,
                  json_pack("{s:I, s:s, s:o}", "worker", (json_int_t)id, "token", token, "user",
                            owner.id ? json_string(owner.name) : json_null()));
    return true;
}
