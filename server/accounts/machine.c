// See machine.h.
#include "server/accounts/machine.h"

#include <stdio.h>
#include <string.h>

#include "server/accounts/viewer.h"
#include "server/common/address.h"
#include "server/common/json_member.h"
#include "server/db/settings.h"

enum { REGISTRATIONS_WAIT_S = 600 };

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
                           "this server wants an account: start the worker with --token-file");
    sha256_hex(in->user_token, strlen(in->user_token), owner->token_hash);
    json_auto_t *user = db_row(db, SQL_WORKER_USER_OF_TOKEN, "s", owner->token_hash);
    owner->id = member_int(user, "id");
    snprintf(out->owner, sizeof out->owner, "%s", member_text(user, "name"));
    return user || error_field(err, 401, "bad_token", "user_token",
                               "this is no token of scope worker; make one on your account's page");
}

// Fills *id with the machine of this key, 0 for a new one. A machine whose token was revoked comes
// back with another.
static bool find_machine(Db *db, const char *key_hash, int64_t *id, Error *err) {
    json_auto_t *machine = db_row(db, SQL_WORKER_BY_KEY, "s", key_hash);
    const char *barred = member_text(machine, "barred");
    *id = member_int(machine, "id");
    return !strcmp(barred, "token") || machine_may_work(barred, err);
}

// A blocked machine, or a machine of a blocked account, must not come back under a new key.
// Machines are compared by what they say of themselves: that stops the simple case, and
// accounts_required the others.
static bool newcomer_check(Db *db, const Introduction *in, const Owner *owner, const char *network,
                           Error *err) {
    return !db_int_named(db, SQL_WORKER_IS_BARRED_ONE, 0,
                         json_pack("{s:s, s:s, s:s, s:I}", "network", network, "name", in->name,
                                   "host", in->host, "user_id", (json_int_t)owner->id)) ||
           error_set(err, 403, "blocked",
                     "a machine like this one, of this account or network, is blocked; ask the "
                     "operator");
}

static bool limit_check(const Turn *turn, const char *network, double *wait_s, Error *err) {
    int64_t limit = setting_whole(turn->db, SETTING_REGISTRATIONS_PER_HOUR);
    int64_t there = db_int(turn->db, SQL_WORKER_REGISTRATIONS, 0, "sd", network, turn->now - 3600);
    if (there < limit)
        return true;
    *wait_s = REGISTRATIONS_WAIT_S;
    return error_set(err, 429, "too_many_registrations",
                     "%lld machines registered from this address within an hour", (long long)there);
}

static bool machine_store(const Turn *turn, const Introduction *in, const Owner *owner,
                          const char *key_hash, const char *network, Registration *out,
                          Error *err) {
    char token_hash[SHA256_HEX_MAX];
    token_random(out->token);
    sha256_hex(out->token, strlen(out->token), token_hash);
    json_t *row =
        json_pack("{s:s, s:I, s:s, s:s, s:s, s:s, s:s, s:f, s:s}", "token_hash", token_hash,
                  "user_id", (json_int_t)owner->id, "name", in->name, "version", in->version,
                  "host", in->host, "address", in->address, "network", network, "now", turn->now,
                  "user_token_hash", owner->token_hash);
    if (!out->is_new) {
        json_object_set_new(row, "id", json_integer(out->id));
        return db_write(turn->db, err, SQL_WORKER_AGAIN, row);
    }
    json_object_set_new(row, "machine_key_hash", json_string(key_hash));
    json_object_set_new(row, "cores", json_integer(in->cores));
    bool good = db_write(turn->db, err, SQL_WORKER_ADD, row);
    out->id = db_last_id(turn->db);
    return good;
}

bool machine_register(Turn *turn, const Introduction *in, Registration *out, double *wait_s,
                      Error *err) {
    Owner owner = {0};
    char key_hash[SHA256_HEX_MAX], network[ADDRESS_MAX];
    *out = (Registration){0};
    *wait_s = 0;
    sha256_hex(in->key, strlen(in->key), key_hash);
    address_network(in->address, network);
    if (!find_owner(turn->db, in, out, &owner, err) ||
        !find_machine(turn->db, key_hash, &out->id, err))
        return false;
    out->is_new = !out->id;
    if (out->is_new && (!newcomer_check(turn->db, in, &owner, network, err) ||
                        !limit_check(turn, network, wait_s, err)))
        return false;
    return machine_store(turn, in, &owner, key_hash, network, out, err);
}

// ---- work ---------------------------------------------------------------------------------------

// What a volunteer can do about a level of the sandbox that is too low.
static const char *advice_of(int64_t level) {
    return level == 2 ? "install bubblewrap (Debian: apt install bubblewrap) and let users make "
                        "namespaces (sysctl kernel.unprivileged_userns_clone=1), then start the "
                        "worker again"
                      : "it needs Linux 5.13 or newer with Landlock and seccomp, or bubblewrap "
                        "(Debian: apt install bubblewrap), and no --no-sandbox";
}

bool machine_may_claim(const Turn *turn, int64_t machine, Error *err) {
    json_auto_t *standing = db_row(turn->db, SQL_WORKER_STANDING, "i", machine);
    if (!machine_may_work(member_text(standing, "barred"), err))
        return false;
    int64_t wanted = setting_whole(turn->db, SETTING_SANDBOX_MIN);
    int64_t has = member_int(standing, "sandbox");
    return has >= wanted ||
           error_set(err, 403, "sandbox_required",
                     "this server wants sandbox level %lld, this machine has %lld: %s",
                     (long long)wanted, (long long)has, advice_of(wanted));
}
