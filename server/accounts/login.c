// See login.h. A count of attempts is a row of `login_failures`, named by its subject: an account
// with a network, a network, an account, a session, or a network that signs up. A subject that has
// used up its free attempts waits. A day without a further attempt ends its count.
#include "server/accounts/login.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/accounts/password.h"
#include "server/accounts/users.h"
#include "server/common/address.h"
#include "server/common/hash.h"
#include "server/common/one_line.h"
#include "server/common/str.h"
#include "server/db/settings.h"
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

// ---- signing in ---------------------------------------------------------------------------------

void login_compare(Db *db, const char *name, const char *password, Login *out) {
    *out = (Login){0};
    if (strlen(password) > PASSWORD_MAX)
        return;
    SqlUserByName user scope(sql_row_free) = {0};
    if (!sql_user_by_name(db, &user, name)) {
        password_match_none(password);
        return;
    }
    out->user = user.id;
    out->admin = user.admin;
    snprintf(out->state, sizeof out->state, "%s", user.state);
    out->matches = password_matches(user.password, password);
    if (out->matches && password_is_weak(user.password)) {
        out->old_hash = xstrdup(user.password);
        out->new_hash = password_hash(password);
    }
}

void login_release(Login *login) {
    free(login->old_hash);
    free(login->new_hash);
}

bool login_admit(const Turn *turn, const Login *login, Error *err) {
    if (!strcmp(login->state, "pending"))
        return error_set(err, 403, "pending", "the account waits for an admin's approval");
    if (!strcmp(login->state, "blocked"))
        return error_set(err, 403, "blocked", "the account is blocked");
    return !login->new_hash ||
           sql_user_rehash(turn->db, err, .user = login->user, .old_hash = login->old_hash,
                           .new_hash = login->new_hash);
}

// ---- wrong passwords ----------------------------------------------------------------------------

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static unsigned char name_key[32];

static void key_make(void) {
    random_bytes(name_key, sizeof name_key);
}

// A user may type the password into the field of the name. So the name of no account is counted as
// its hash, under a key that exists as long as the process. The hash is of small letters, because
// names are compared without case.
static void name_hash(const char *name, char out[SHA256_HEX_MAX]) {
    Str text scope(str_release);
    pthread_once(&key_once, key_make);
    str_init(&text, sizeof name_key + strlen(name));
    str_add(&text, name_key, sizeof name_key);
    for (const char *p = name; *p; p++)
        str_putc(&text, (char)tolower((unsigned char)*p));
    sha256_hex(text.data, text.size, out);
}

// What a wrong password counts against.
typedef struct Guess {
    char account[80];              // "user:5", or "name:" and a hash
    char pair[80 + ADDRESS_MAX];   // the account and the network
    char network[8 + ADDRESS_MAX]; // "network:…"
    bool known;                    // the account signed in from this network before
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

// Seconds until the subject may try again. If its count has just reached `free`, that is `first`.
// Each further attempt doubles it, up to `most`.
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

const char *login_place(Db *db, const char *name, const char *device, const char *address) {
    int64_t user = sql_user_of_name(db, 0, name);
    bool known = device && sql_known_network(db, .user = user, .network = device);
    return known ? device : address;
}

// ---- the old password when it is changed --------------------------------------------------------

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

// ---- signing up ---------------------------------------------------------------------------------

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

bool signup_check(const Turn *turn, NewUser *user, Error *err) {
    if (setting_is(turn->db, SETTING_SIGNUP, "closed"))
        return error_set(err, 403, "signup_closed",
                         "signing up is closed on this server; ask its operator for an account");
    user->state = setting_is(turn->db, SETTING_SIGNUP, "open") ? "active" : "pending";
    if (!signup_may_try(turn->db, user->address, turn->now, err) ||
        !user_name_check(user->name, err) || !password_check(user->password, err) ||
        !one_line_check("email", user->email, 0, 254, err))
        return false;
    return !sql_user_of_name(turn->db, 0, user->name) ||
           error_field(err, 409, "name_taken", "name", "the name %s is taken", user->name);
}

int64_t signup_store(const Turn *turn, const NewUser *user, const char *hash, Error *err) {
    if (!signup_may_try(turn->db, user->address, turn->now, err) ||
        !signup_note(turn->db, user->address, turn->now, err))
        return 0;
    return user_create(turn->db, user->name, user->email, hash, user->state, false, turn->now, err);
}
