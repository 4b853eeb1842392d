// See machine.h.
#include "server/accounts/machine.h"

#include <stdio.h>
#include <string.h>

#include "server/accounts/viewer.h"
#include "server/common/address.h"
#include "server/common/str.h"
#include "server/db/settings.h"
#include "sql/worker.h"

// A machine has a new key when its old one was lost, and that is rare.
enum { REGISTRATIONS_WAIT_S = 600, OTHER_KEYS_MAX = 99 };

// ---- registration -------------------------------------------------------------------------------

// The account that the machine's games will belong to.
typedef struct Owner {
    int64_t id;                      // 0: none
    char token_hash[SHA256_HEX_MAX]; // "": none
} Owner;

static bool find_owner(Db *db, const Introduction *in, Registration *out, Owner *owner,
                       Error *err) {
    if (!in->user_token)
        return !setting_whole(db, SETTING_ACCOUNTS_REQUIRED) ||
               error_field(err, 403, "accounts_required", "user_token",
                           "this server requires an account: start the worker with --token-file");
    sha256_hex(in->user_token, strlen(in->user_token), owner->token_hash);
    SqlWorkerUserOfToken user scope(sql_row_free) = {0};
    if (!sql_worker_user_of_token(db, &user, owner->token_hash))
        return error_field(
            err, 401, "bad_token", "user_token",
            "this is not a token of scope worker; make one on the page of your account");
    owner->id = user.id;
    snprintf(out->owner, sizeof out->owner, "%s", user.name);
    return true;
}

// Whether a machine with a new key may register. A blocked machine, or a machine of a blocked
// account, must not return under a new key. Machines are compared by their descriptions of
// themselves. A machine can change its description; accounts_required stops such machines too.
static bool newcomer_check(const Turn *turn, const Introduction *in, const Owner *owner,
                           const char *network, double *wait_s, Error *err) {
    if (sql_worker_is_barred_one(turn->db, .network = network, .name = in->name, .host = in->host,
                                 .user = owner->id))
        return error_set(err, 403, "blocked",
                         "a machine with this description, of this account or network, is "
                         "blocked; ask the operator");
    int64_t limit = setting_whole(turn->db, SETTING_REGISTRATIONS_PER_HOUR);
    int64_t count =
        sql_worker_registrations(turn->db, 0, .network = network, .since = turn->now - 3600);
    if (count < limit)
        return true;
    *wait_s = REGISTRATIONS_WAIT_S;
    return error_set(err, 429, "too_many_registrations",
                     "%lld machines of this network registered within an hour", (long long)count);
}

static bool machine_store(const Turn *turn, const Introduction *in, const Owner *owner,
                          const char *key_hash, const char *network, Registration *out,
                          Error *err) {
    char token_hash[SHA256_HEX_MAX];
    token_random(out->token);
    sha256_hex(out->token, strlen(out->token), token_hash);
    if (!out->is_new)
        return sql_worker_again(turn->db, err, .worker = out->id, .token_hash = token_hash,
                                .user = owner->id, .name = in->name, .version = in->version,
                                .host = in->host, .address = in->address, .network = network,
                                .now = turn->now, .user_token_hash = owner->token_hash);
    bool good =
        sql_worker_add(turn->db, err, .key_hash = key_hash, .token_hash = token_hash,
                       .user = owner->id, .name = in->name, .version = in->version,
                       .host = in->host, .cores = in->cores, .address = in->address,
                       .network = network, .now = turn->now, .user_token_hash = owner->token_hash);
    out->id = db_last_id(turn->db);
    return good;
}

static bool key_store(const Turn *turn, const Introduction *in, int64_t machine, Error *err) {
    if (sql_worker_keys_other(turn->db, 0, .worker = machine, .public_key = in->public_key) >
        OTHER_KEYS_MAX)
        return error_field(err, 422, "too_many_keys", "public_key",
                           "this machine has registered with %d keys and gets no more: delete its "
                           "identity.json, so that it registers as a new machine",
                           OTHER_KEYS_MAX + 1);
    return sql_worker_key_add(turn->db, err, .worker = machine, .public_key = in->public_key,
                              .now = turn->now);
}

bool machine_register(Turn *turn, const Introduction *in, Registration *out, double *wait_s,
                      Error *err) {
    Owner owner = {0};
    char key_hash[SHA256_HEX_MAX], network[ADDRESS_MAX];
    *out = (Registration){0};
    *wait_s = 0;
    sha256_hex(in->key, strlen(in->key), key_hash);
    address_network(in->address, network);
    if (!find_owner(turn->db, in, out, &owner, err))
        return false;
    SqlWorkerByKey known scope(sql_row_free) = {0};
    out->is_new = !sql_worker_by_key(turn->db, &known, key_hash);
    out->id = known.id;
    if (out->is_new && !newcomer_check(turn, in, &owner, network, wait_s, err))
        return false;
    // A machine whose token was revoked may return with another token.
    if (!out->is_new && strcmp(known.barred, "token") != 0 && !machine_may_work(known.barred, err))
        return false;
    char *installation scope(free_ptr) = sql_installation(turn->db);
    snprintf(out->installation, sizeof out->installation, "%s", installation ? installation : "");
    return machine_store(turn, in, &owner, key_hash, network, out, err) &&
           key_store(turn, in, out->id, err);
}

// ---- work ---------------------------------------------------------------------------------------

// The steps by which a volunteer reaches this level of the sandbox.
static const char *advice_of(int64_t level) {
    return level == 2 ? "install bubblewrap (Debian: apt install bubblewrap) and let users make "
                        "namespaces (sysctl kernel.unprivileged_userns_clone=1), then start the "
                        "worker again"
                      : "it needs Linux 5.13 or newer with Landlock and seccomp, or bubblewrap "
                        "(Debian: apt install bubblewrap), and no --no-sandbox";
}

bool machine_may_claim(const Turn *turn, int64_t machine, Error *err) {
    SqlWorkerStanding standing scope(sql_row_free) = {0};
    if (!sql_worker_standing(turn->db, &standing, machine))
        return error_set(err, 500, "internal", "there is no machine %lld", (long long)machine);
    if (!machine_may_work(standing.barred, err))
        return false;
    int64_t wanted = setting_whole(turn->db, SETTING_SANDBOX_MIN);
    return standing.sandbox >= wanted ||
           error_set(err, 403, "sandbox_required",
                     "this server requires sandbox level %lld, and this machine has %lld: %s",
                     (long long)wanted, (long long)standing.sandbox, advice_of(wanted));
}
