// See users.h.
#include "server/accounts/users.h"

#include <string.h>

#include "sql/git.h"
#include "sql/users.h"

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
