// See users.h.
#include "users.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/member.h"
#include "common/str.h"

enum {
    FREE_BY_ACCOUNT = 10,
    FREE_BY_ADDRESS = 50,
    FREE_SIGNUPS = 20,
    WAIT_FIRST_S = 30,
    WAIT_MAX_S = 3600,
    DAY_S = 86400,
};

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
    if (db_run(db, err, SQL_USER_ADD, "ssssid", name, email, hash, state, (int64_t)admin, now))
        return db_last_id(db);
    if (err->status == 409)
        error_field(err, 409, "name_taken", "name", "the name %s is taken", name);
    return 0;
}

int64_t user_find(Db *db, const char *name, Error *err) {
    int64_t id = db_int(db, SQL_USER_BY_NAME, 0, "s", name);
    if (!id)
        error_field(err, 404, "no_such_user", "name", "there is no user %s", name);
    return id;
}

bool user_set_role(Db *db, int64_t user, const char *engine, const char *role, bool grant,
                   Error *err) {
    if (!strcmp(role, "admin"))
        return db_run(db, err, SQL_USER_SET_ADMIN, "ii", user, (int64_t)grant);
    if (strcmp(role, "developer") != 0 && strcmp(role, "maintainer") != 0)
        return error_field(err, 422, "bad_role", "role",
                           "a role is developer, maintainer or admin, not %s", role);
    int64_t id = db_int(db, SQL_ROLE_ENGINE_BY_NAME, 0, "s", engine);
    if (!id)
        return error_field(err, 404, "no_such_engine", "engine", "there is no engine %s", engine);
    return db_run(db, err, grant ? SQL_ROLE_ADD : SQL_ROLE_REMOVE, "iis", user, id, role);
}

bool user_set_state(Db *db, int64_t user, const char *state, Error *err) {
    if (strcmp(state, "active") != 0 && strcmp(state, "pending") != 0 &&
        strcmp(state, "blocked") != 0)
        return error_field(err, 422, "bad_state", "state", "a state is active, pending or blocked");
    if (!db_run(db, err, SQL_USER_SET_STATE, "is", user, state))
        return false;
    return !strcmp(state, "active") ||
           (db_run(db, err, SQL_SESSIONS_REMOVE_OTHERS, "is", user, "") &&
            db_run(db, err, SQL_TOKENS_REMOVE_ALL, "i", user));
}

// ---- wrong passwords ----------------------------------------------------------------------------

// In small letters, as names are compared without regard to case.
static char *subject(const char *kind, const char *who) {
    char *key = xasprintf("%s:%.64s", kind, who);
    for (char *p = key; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return key;
}

// Seconds until the subject may try again.
static double wait_of(Db *db, const char *kind, const char *who, int free, double now) {
    char *key scope(free_ptr) = subject(kind, who);
    json_auto_t *row = db_row(db, SQL_LOGIN_FAILURES_OF, "s", key);
    double count = member_real(row, "count");
    double last = member_real(row, "last");
    if (count < free || last < now - DAY_S)
        return 0;
    double wait = fmin(WAIT_FIRST_S * exp2(fmin(count - free, 20)), WAIT_MAX_S);
    return fmax(0, last + wait - now);
}

bool login_may_try(Db *db, const char *name, const char *address, double now, double *wait,
                   Error *err) {
    *wait = fmax(wait_of(db, "user", name, FREE_BY_ACCOUNT, now),
                 wait_of(db, "address", address, FREE_BY_ADDRESS, now));
    return *wait <= 0 || error_set(err, 429, "too_many_attempts",
                                   "too many wrong passwords; try again in %.0f s", ceil(*wait));
}

static bool count_one(Db *db, const char *kind, const char *who, double now, Error *err) {
    char *key scope(free_ptr) = subject(kind, who);
    return db_run(db, err, SQL_LOGIN_FAILURE_ADD, "sd", key, now);
}

bool login_failed(Db *db, const char *name, const char *address, double now, Error *err) {
    return count_one(db, "user", name, now, err) && count_one(db, "address", address, now, err);
}

bool login_succeeded(Db *db, const char *name, Error *err) {
    char *key scope(free_ptr) = subject("user", name);
    return db_run(db, err, SQL_LOGIN_FAILURES_CLEAR, "s", key);
}

bool signup_may_try(Db *db, const char *address, double now, Error *err) {
    return wait_of(db, "signup", address, FREE_SIGNUPS, now) <= 0 ||
           error_set(err, 429, "too_many_accounts",
                     "too many accounts were made from this address; try again later");
}

bool signup_note(Db *db, const char *address, double now, Error *err) {
    return count_one(db, "signup", address, now, err);
}
