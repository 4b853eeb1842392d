// See users.h.
#include "server/accounts/users.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/address.h"
#include "server/common/hash.h"
#include "server/common/str.h"
#include "sql/git.h"
#include "sql/users.h"

enum {
    FREE_BY_PAIR = 10,
    FREE_BY_ACCOUNT = 20,
    FREE_BY_NETWORK = 50,
    FREE_SIGNUPS = 20,
    KNOWN_NETWORKS = 20,
    DAY_S = 86400,
};
static const double WAIT_FIRST_S = 30, WAIT_MAX_S = 3600, WAIT_KNOWN_S = 60, WAIT_ACCOUNT_S = 5;

bool user_name_check(const char *name, Error *err) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t size = strlen(name);
    bool good = size >= 2 && size <= 32 && strchr(letters, *name);
    for (const char *p = name; good && *p; p++)
        good = strchr(letters, *p) || strchr("0123456789-_.", *p);
    return good || error_field(err, 422, "bad_name", "name",
                               "a name has 2 to 32 letters, digits, '-', '_' or '.', and begins "
                               "with a letter");
}

int64_t user_create(Db *db, const char *name, const char *email, const char *hash,
                    const char *state, bool admin, double now, Error *err) {
    if (!user_name_check(name, err))
        return 0;
    if (sql_user_add(db, err, .name = name, .email = email, .password = hash, .state = state,
                     .admin = admin, .created = now))
        return db_last_id(db);
    if (err->status == 409)
        error_field(err, 409, "name_taken", "name", "the name %s is taken", name);
    return 0;
}

int64_t user_find(Db *db, const char *name, Error *err) {
    int64_t id = sql_user_of_name(db, 0, name);
    if (!id)
        error_field(err, 404, "no_such_user", "name", "there is no user %s", name);
    return id;
}

bool user_set_role(Db *db, int64_t user, const char *engine, const char *role, bool grant,
                   Error *err) {
    if (!strcmp(role, "admin"))
        return sql_user_set_admin(db, err, .user = user, .admin = grant);
    if (strcmp(role, "developer") != 0 && strcmp(role, "maintainer") != 0)
        return error_field(err, 422, "bad_role", "role",
                           "a role is developer, maintainer or admin, not %s", role);
    int64_t id = sql_engine_of_name(db, 0, engine);
    if (!id)
        return error_field(err, 404, "no_such_engine", "engine", "there is no engine %s", engine);
    return grant ? sql_role_add(db, err, .user = user, .engine = id, .role = role)
                 : sql_role_remove(db, err, .user = user, .engine = id, .role = role);
}

bool user_set_state(Db *db, int64_t user, const char *state, Error *err) {
    if (strcmp(state, "active") != 0 && strcmp(state, "pending") != 0 &&
        strcmp(state, "blocked") != 0)
        return error_field(err, 422, "bad_state", "state", "a state is active, pending or blocked");
    if (!sql_user_set_state(db, err, .user = user, .state = state))
        return false;
    return !strcmp(state, "active") ||
           (sql_sessions_remove_others(db, err, .user = user, .token_hash = "") &&
            sql_tokens_remove_all(db, err, user));
}

// ---- wrong passwords ----------------------------------------------------------------------------

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static unsigned char name_key[32];

static void key_make(void) {
    random_bytes(name_key, sizeof name_key);
}

// What is typed as a name may be a password. Where no account has it, a hash stands for it, under a
// key that lives as long as the process; in small letters, as names are compared without case.
static void name_hash(const char *name, char out[SHA256_HEX_MAX]) {
    Str text scope(str_release);
    pthread_once(&key_once, key_make);
    str_init(&text, sizeof name_key + strlen(name));
    str_add(&text, name_key, sizeof name_key);
    for (const char *p = name; *p; p++)
        str_putc(&text, (char)tolower((unsigned char)*p));
    sha256_hex(text.data, text.size, out);
}

// Whom a wrong password counts against.
typedef struct Guess {
    char account[80];              // "user:5", or "name:" and a hash
    char pair[80 + ADDRESS_MAX];   // the account and the network
    char network[8 + ADDRESS_MAX]; // "network:…"
    bool known;                    // the account signed in from there before
} Guess;

static Guess guess_of(Db *db, const char *name, const char *address) {
    Guess guess;
    char network[ADDRESS_MAX], hash[SHA256_HEX_MAX];
    int64_t user = sql_user_of_name(db, 0, name);
    address_network(address, network);
    if (user)
        snprintf(guess.account, sizeof guess.account, "user:%lld", (long long)user);
    else {
        name_hash(name, hash);
        snprintf(guess.account, sizeof guess.account, "name:%s", hash);
    }
    snprintf(guess.pair, sizeof guess.pair, "%s %s", guess.account, network);
    snprintf(guess.network, sizeof guess.network, "network:%s", network);
    guess.known = sql_known_network(db, .user = user, .network = network);
    return guess;
}

// Seconds until the subject may try again, when its count has reached `free`: `first`, then twice
// as long with each further one, `most` at most.
static double wait_of(Db *db, const char *subject, int free, double first, double most,
                      double now) {
    SqlLoginFailuresOf failures = {0};
    if (!sql_login_failures_of(db, &failures, subject) || failures.count < free ||
        failures.last < now - DAY_S)
        return 0;
    double wait = fmin(first * exp2(fmin((double)(failures.count - free), 20)), most);
    return fmax(0, failures.last + wait - now);
}

static bool count_one(Db *db, const char *subject, double now, Error *err) {
    return sql_login_failure_add(db, err, .subject = subject, .now = now, .forget_s = DAY_S);
}

static bool too_many(double wait, Error *err) {
    return error_set(err, 429, "too_many_attempts", "too many wrong passwords; try again in %.0f s",
                     ceil(wait));
}

bool login_may_try(Db *db, const char *name, const char *address, double now, double *wait,
                   Error *err) {
    Guess guess = guess_of(db, name, address);
    *wait = wait_of(db, guess.pair, FREE_BY_PAIR, WAIT_FIRST_S,
                    guess.known ? WAIT_KNOWN_S : WAIT_MAX_S, now);
    if (!guess.known) {
        *wait =
            fmax(*wait, wait_of(db, guess.network, FREE_BY_NETWORK, WAIT_FIRST_S, WAIT_MAX_S, now));
        *wait = fmax(*wait, wait_of(db, guess.account, FREE_BY_ACCOUNT, WAIT_ACCOUNT_S,
                                    WAIT_ACCOUNT_S, now));
    }
    return *wait <= 0 || too_many(*wait, err);
}

bool login_failed(Db *db, const char *name, const char *address, double now, Error *err) {
    Guess guess = guess_of(db, name, address);
    return count_one(db, guess.pair, now, err) &&
           (guess.known ||
            (count_one(db, guess.network, now, err) && count_one(db, guess.account, now, err)));
}

bool login_succeeded(Db *db, int64_t user, const char *address, double now, Error *err) {
    char network[ADDRESS_MAX];
    address_network(address, network);
    bool is_device = !strncmp(network, "device ", 7);
    char *pair scope(free_ptr) = xasprintf("user:%lld %s", (long long)user, network);
    return sql_login_failures_clear(db, err, pair) &&
           sql_known_network_add(db, err, .user = user, .network = network, .now = now) &&
           sql_known_networks_trim(db, err, .user = user, .devices = is_device,
                                   .limit = KNOWN_NETWORKS);
}

bool login_failures_forget(Db *db, int64_t user, Error *err) {
    char *account scope(free_ptr) = xasprintf("user:%lld", (long long)user);
    return sql_login_failures_forget(db, err, account);
}

// ---- a password within a session

static char *session_subject(const char *session) {
    return xasprintf("session:%s", session);
}

bool change_may_try(Db *db, const char *session, double now, double *wait, Error *err) {
    char *subject scope(free_ptr) = session_subject(session);
    *wait = wait_of(db, subject, FREE_BY_PAIR, WAIT_FIRST_S, WAIT_MAX_S, now);
    return *wait <= 0 || too_many(*wait, err);
}

bool change_failed(Db *db, const char *session, double now, Error *err) {
    char *subject scope(free_ptr) = session_subject(session);
    return count_one(db, subject, now, err);
}

// ---- new accounts

static void signup_subject(const char *address, char out[8 + ADDRESS_MAX]) {
    char network[ADDRESS_MAX];
    address_network(address, network);
    snprintf(out, 8 + ADDRESS_MAX, "signup:%s", network);
}

bool signup_may_try(Db *db, const char *address, double now, Error *err) {
    char subject[8 + ADDRESS_MAX];
    signup_subject(address, subject);
    return wait_of(db, subject, FREE_SIGNUPS, WAIT_FIRST_S, WAIT_MAX_S, now) <= 0 ||
           error_set(err, 429, "too_many_accounts",
                     "too many accounts were made from this network; try again later");
}

bool signup_note(Db *db, const char *address, double now, Error *err) {
    char subject[8 + ADDRESS_MAX];
    signup_subject(address, subject);
    return count_one(db, subject, now, err);
}
