// What users may change of their own account: the password and the API tokens. Also what an admin
// may not do to the own account.
#pragma once

#include "server/accounts/viewer.h"
#include "server/common/hash.h"
#include "server/db/turn.h"

// ---- password

// Whether the viewer may try a password now; 429 with the seconds in *wait. Wrong ones count
// against the session, or against the tokens of an admin together.
bool own_password_may_try(const Turn *turn, const Viewer *viewer, double *wait, Error *err);
bool own_password_failed(const Turn *turn, const Viewer *viewer, Error *err);
// For readers, because it is slow. The hash of the new password; NULL: the old one is wrong. New.
char *own_password_hash(Db *db, const Viewer *viewer, const char *old, const char *password);
// Ends all other sessions of the user, and the API tokens if `end_tokens`.
bool own_password_set(const Turn *turn, const Viewer *viewer, const char *hash, bool end_tokens,
                      Error *err);

// ---- API tokens

typedef struct NewToken {
    const char *name, *scope;
    int64_t id;            // filled by own_token_make()
    char token[TOKEN_MAX]; // filled by own_token_make(); the database has its hash only
} NewToken;

// 422 `bad_scope` and so on; 403 `forbidden`: a token of scope admin for a user who is none.
bool own_token_check(const Viewer *viewer, const NewToken *token, Error *err);
bool own_token_make(const Turn *turn, const Viewer *viewer, NewToken *token, Error *err);
bool own_token_revoke(const Turn *turn, const Viewer *viewer, int64_t id, Error *err); // 404

// ---- an admin's own account

// Admins cannot take the admin role away from themselves, so that one admin is always left: 409
// `own_role`.
bool own_role_check(const Viewer *viewer, int64_t user, const char *role, bool grant, Error *err);
// Nor can they change the state of their own account: 409 `own_state`.
bool own_state_check(const Viewer *viewer, int64_t user, Error *err);
