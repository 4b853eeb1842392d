// Changes that users make to their own account: the password and the API tokens. Also the changes
// that admins must not make to their own account.
#pragma once

#include "server/accounts/viewer.h"
#include "server/common/hash.h"
#include "server/db/turn.h"

// ---- password

// Whether the viewer may try a password now. False: 429, and *wait is the number of seconds. Wrong
// passwords count against the session. Without a session they count against the name, so all
// tokens of a user share one count.
bool own_password_may_try(const Turn *turn, const Viewer *viewer, double *wait, Error *err);
bool own_password_failed(const Turn *turn, const Viewer *viewer, Error *err);
// The hash of the new password, new; NULL if the old password is wrong. Slow, so for readers.
char *own_password_hash(Db *db, const Viewer *viewer, const char *old, const char *password);
// Also ends all other sessions of the user, and with `end_tokens` all API tokens.
bool own_password_set(const Turn *turn, const Viewer *viewer, const char *hash, bool end_tokens,
                      Error *err);

// ---- API tokens

typedef struct NewToken {
    const char *name, *scope;
    int64_t id;            // filled by own_token_make()
    char token[TOKEN_MAX]; // filled by own_token_make(); the database has only its hash
} NewToken;

// 422 for a bad name or scope. 403 `forbidden` if a user who is not an admin wants the scope admin.
bool own_token_check(const Viewer *viewer, const NewToken *token, Error *err);
bool own_token_make(const Turn *turn, const Viewer *viewer, NewToken *token, Error *err);
bool own_token_revoke(const Turn *turn, const Viewer *viewer, int64_t id, Error *err); // 404

// ---- an admin's own account

// 409 `own_role`: admins cannot remove their own admin role. So at least one admin remains.
bool own_role_check(const Viewer *viewer, int64_t user, const char *role, bool grant, Error *err);
// 409 `own_state`: admins cannot change the state of their own account.
bool own_state_check(const Viewer *viewer, int64_t user, Error *err);
