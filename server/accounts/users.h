// Accounts in the database: names, roles, wrong passwords.
// The viewer of a request: viewer.h, session.h.
#pragma once

#include <stdint.h>

#include "server/common/error.h"
#include "server/db/db.h"

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

// Wrong passwords. They are counted by account and network (see address_network): after 10 that
// network waits for this account, first half a minute, then twice as long with each further one, an
// hour at most; after 50 of all accounts it waits for all. After 20 of an account from networks
// that it never signed in from, such networks together may try once in 5 seconds: that slows
// guessing from many places and refuses the owner nowhere for long. A network that the account
// signed in from waits for its own wrong passwords only, a minute at most; so does a browser, which
// comes in place of an address as device_of names it. 429 with the seconds in *wait. What was typed
// as a name is not kept.
bool login_may_try(Db *db, const char *name, const char *address, double now, double *wait,
                   Error *err);
bool login_failed(Db *db, const char *name, const char *address, double now, Error *err);
// Forgets this network's wrong passwords, and knows it from now on, as one of the account's
// last 20.
bool login_succeeded(Db *db, int64_t user, const char *address, double now, Error *err);
bool login_failures_forget(Db *db, int64_t user, Error *err); // wherever they came from
// The old password where it is changed: counted by the session (its hash) alone, because only its
// user types there.
bool change_may_try(Db *db, const char *session, double now, double *wait, Error *err);
bool change_failed(Db *db, const char *session, double now, Error *err);
// New accounts of one network: after 20 each further one waits, as after wrong passwords, and
// starts anew after a day without one.
bool signup_may_try(Db *db, const char *address, double now, Error *err);
bool signup_note(Db *db, const char *address, double now, Error *err);
