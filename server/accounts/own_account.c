// See own_account.h.
#include "server/accounts/own_account.h"

#include <string.h>

#include "server/accounts/password.h"
#include "server/accounts/users.h"
#include "server/common/json_member.h"
#include "server/common/one_line.h"

// ---- password

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
    json_auto_t *user = db_row(db, SQL_USER_BY_ID, "i", viewer->user_id);
    return user && password_matches(member_text(user, "password"), old) ? password_hash(password)
                                                                        : NULL;
}

bool own_password_set(const Turn *turn, const Viewer *viewer, const char *hash, bool end_tokens,
                      Error *err) {
    Db *db = turn->db;
    return db_run(db, err, SQL_USER_SET_PASSWORD, "is", viewer->user_id, hash) &&
           db_run(db, err, SQL_SESSIONS_REMOVE_OTHERS, "is", viewer->user_id,
                  viewer->session_hash) &&
           (!end_tokens || db_run(db, err, SQL_TOKENS_REMOVE_ALL, "i", viewer->user_id));
}

// ---- API tokens

bool own_token_check(const Viewer *viewer, const NewToken *token, Error *err) {
    if (!one_line_check("name", token->name, 1, 64, err))
        return false;
    bool admin = !strcmp(token->scope, "admin");
    if (!admin && strcmp(token->scope, "submit") != 0 && strcmp(token->scope, "worker") != 0)
        return error_field(err, 422, "bad_scope", "scope", "a scope is submit, worker or admin");
    return !admin || viewer->admin ||
           error_field(err, 403, "forbidden", "scope", "only an admin has tokens of that scope");
}

bool own_token_make(const Turn *turn, const Viewer *viewer, NewToken *token, Error *err) {
    char hash[SHA256_HEX_MAX];
    token_random(token->token);
    sha256_hex(token->token, strlen(token->token), hash);
    bool good = db_write(turn->db, err, SQL_TOKEN_ADD,
                         json_pack("{s:I, s:s, s:s, s:s, s:f}", "user_id",
                                   (json_int_t)viewer->user_id, "token_hash", hash, "scope",
                                   token->scope, "name", token->name, "created", turn->now));
    token->id = db_last_id(turn->db);
    return good;
}

bool own_token_revoke(const Turn *turn, const Viewer *viewer, int64_t id, Error *err) {
    return db_run(turn->db, err, SQL_TOKEN_REMOVE, "ii", id, viewer->user_id) &&
           (db_changes(turn->db) || error_set(err, 404, "no_such_token", "you have no such token"));
}

// ---- an admin's own account

bool own_role_check(const Viewer *viewer, int64_t user, const char *role, bool grant, Error *err) {
    return user != viewer->user_id || grant || strcmp(role, "admin") != 0 ||
           error_field(err, 409, "own_role", "role",
                       "you cannot do this to your own account; ask another admin");
}

bool own_state_check(const Viewer *viewer, int64_t user, Error *err) {
    return user != viewer->user_id ||
           error_field(err, 409, "own_state", "state",
                       "you cannot do this to your own account; ask another admin");
}
