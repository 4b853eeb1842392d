// Accounts in the database: their names, roles and states. login.h signs them in; viewer.h and
// session.h are about the viewer of a request.
#pragma once

#include <stdint.h>

#include "server/common/error.h"
#include "server/db/db.h"

// 422, field `name`: 2 to 32 letters, digits, '-', '_' and '.', the first one a letter.
bool user_name_check(const char *name, Error *err);
// `hash` is from password_hash(). 409 `name_taken`. Returns the id; 0 on error.
int64_t user_create(Db *db, const char *name, const char *email, const char *hash,
                    const char *state, bool admin, double now, Error *err);
int64_t user_find(Db *db, const char *name, Error *err); // 0 and 404 `no_such_user`
// `role`: "developer" or "maintainer" of the engine with this name; or "admin", for which `engine`
// is ignored.
bool user_set_role(Db *db, int64_t user, const char *engine, const char *role, bool grant,
                   Error *err);
// "active", "pending" or "blocked". The last two end the user's sessions and API tokens.
bool user_set_state(Db *db, int64_t user, const char *state, Error *err);
