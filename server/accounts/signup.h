// New accounts: whether the server makes one, and in which state.
#pragma once

#include "server/db/turn.h"

typedef struct NewUser {
    const char *name, *email, *password; // email "": none
    const char *address;                 // of the connection
    const char *state;                   // filled by signup_check(): "active" or "pending"
} NewUser;

// By the setting `signup` (open, the default; approved; closed), the limit of new accounts of a
// network, and the rules for names, passwords and e-mail addresses. Reads only. 403
// `signup_closed`, 429 `too_many_accounts`, 409 `name_taken`, 422.
bool signup_check(const Turn *turn, NewUser *user, Error *err);
// Makes the account. `hash` from password_hash. Asks again what may have changed since
// signup_check(): 429 `too_many_accounts`, 409 `name_taken`. The id; 0 on error.
int64_t signup_store(const Turn *turn, const NewUser *user, const char *hash, Error *err);
