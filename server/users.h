// Accounts in the database: names, roles, wrong passwords. Who is asking right now is session.h.
#pragma once

#include <stdint.h>

#include "common/error.h"
#include "db.h"

// 422, field `name`: 2 to 32 letters, digits, '-', '_' and '.', beginning with a letter.
bool user_name_check(const char *name, Error *err);
// `hash` from password_hash. 409 `name_taken`. Returns the id, 0 on error.
int64_t user_create(Db *db, const char *name, const char *email, const char *hash,
                    const char *state, bool admin, double now, Error *err);
int64_t user_find(Db *db, const char *name, Error *err); // 0 and 404 `no_such_user`
// `role`: "developer" or "maintainer" of the engine by name; or "admin", whose engine is ignored.
bool user_set_role(Db *db, int64_t user, const char *engine, const char *role, bool grant,
                   Error *err);
// "active", "pending" or "blocked"; blocking ends sessions and tokens.
bool user_set_state(Db *db, int64_t user, const char *state, Error *err);

// Wrong passwords. An account is asked to wait after 10, an address after 50, first half a minute,
// then twice as long with each further one, an hour at most. 429 with the seconds in *wait.
bool login_may_try(Db *db, const char *name, const char *address, double now, double *wait,
                   Error *err);
bool login_failed(Db *db, const char *name, const char *address, double now, Error *err);
bool login_succeeded(Db *db, const char *name, Error *err);
// New accounts of one address in a day: 20.
bool signup_may_try(Db *db, const char *address, double now, Error *err);
bool signup_note(Db *db, const char *address, double now, Error *err);
