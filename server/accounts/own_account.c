// See own_account.h.
#include "server/accounts/own_account.h"

#include <string.h>

#include "server/accounts/login.h"
#include "server/accounts/password.h"
#include "server/common/one_line.h"
#include "server/common/str.h"
#include "sql/users.h"

// ---- password

// The name that wrong passwords are counted under.
static const char *guesser(const Viewer *viewer) {
    return *viewer->session_hash ? viewer->session_hash : viewer->name;
}

bool own_password_may_try(const Turn *turn, const Viewer *viewer, double *wait, Error *err) {
    return change_may_try(turn->db, guesser(viewer), turn->now, wait, err);
}

bool own_password_failed(const Turn *turn, const Viewer *viewer, Error *err) {
    return change_failed(turn->db, guesser(viewer), turn->now, err);
}

char *own_password_hash(Db *db, const Viewer *viewer, const char *old, const char *password) {
    char *stored scope(free_ptr) = sql_user_password(db, viewer->user_id);
    return stored && password_matches(stored, old) ? password_hash(password) : NULL;
}

bool own_password_set(const Turn *turn, const Viewer *viewer, const char *hash, bool end_tokens,
                      Error *err) {
    Db *db = turn->db;
    return sql_user_set_password(db, err, .user = viewer->user_id, .password = hash) &&
           sql_sessions_remove_others(db, err, .user = viewer->user_id,
                                      .token_hash = viewer->session_hash) &&
           (!end_tokens || sql_tokens_remove_all(db, err, viewer->user_id));
}

// ---- API tokens

bool own_token_check(const Viewer *viewer, const NewToken *token, Error *err) {
    if (!one_line_check("name", token->name, 1, 64, err))
        return false;
    bool admin = !strcmp(token->scope, "admin");
    if (!admin && strcmp(token->scope, "submit") != 0 && strcmp(token->scope, "worker") != 0)
        return error_field(err, 422, "bad_scope", "scope", "a scope is submit, worker or admin");
    return !admin || viewer->admin ||
           error_field(err, 403, "forbidden", "scope",
                       "only an admin may have tokens of this scope");
}

bool own_token_make(const Turn *turn, const Viewer *viewer, NewToken *token, Error *err) {
    char hash[SHA256_HEX_MAX];
    token_random(token->token);
    sha256_hex(token->token, strlen(token->token), hash);
    bool good = sql_token_add(turn->db, err, .user = viewer->user_id, .token_hash = hash,
                              .scope = token->scope, .name = token->name, .created = turn->now);
    token->id = db_last_id(turn->db);
    return good;
}

bool own_token_revoke(const Turn *turn, const Viewer *viewer, int64_t id, Error *err) {
    return sql_token_remove(turn->db, err, .token = id, .user = viewer->user_id) &&
           (db_changes(turn->db) || error_set(err, 404, "no_such_token", "you have no such token"));
}

// ---- an admin's own account

bool own_role_check(const Viewer *viewer, int64_t user, const char *role, bool grant, Error *err) {
    return user != viewer->user_id || grant || strcmp(role, "admin") != 0 ||
           error_field(err, 409, "own_role", "role",
                       "you cannot change this role of your own account; ask another admin");
}

bool own_state_check(const Viewer *viewer, int64_t user, Error *err) {
    return user != viewer->user_id ||
           error_field(err, 409, "own_state", "state",
                       "you cannot change the state of your own account; ask another admin");
}
