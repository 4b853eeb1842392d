// Signing in: whether name and password are an account's, and whether the account may be entered.
// How often one may try is in users.h.
#pragma once

#include "server/db/turn.h"

typedef struct Login {
    int64_t user; // 0: there is no account with this name
    bool matches, admin;
    char state[16];
    char *old_hash, *new_hash; // if the password is to be hashed anew
} Login;

// Compares the password, which takes as long where there is no account. For readers, because it is
// slow.
void login_compare(Db *db, const char *name, const char *password, Login *out);
void login_release(Login *login);
// After a password that matches: 403 `pending` or `blocked`. Else hashes that are weak are
// replaced.
bool login_admit(const Turn *turn, const Login *login, Error *err);

// Where a wrong password counts: the browser, if the account signed in with it before, because only
// its owner types there; else the address. `device` as in device_of(); NULL: a browser that is not
// known. Borrowed from the arguments.
const char *login_place(Db *db, const char *name, const char *device, const char *address);
