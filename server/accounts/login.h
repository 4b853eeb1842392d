// Signing in and signing up: whether name and password belong to an account, whether that account
// may be used, how often a password may be tried, and whether the server makes a new account.
#pragma once

#include "server/db/turn.h"

// ---- signing in

typedef struct Login {
    int64_t user; // 0: there is no account with this name
    bool matches, admin;
    char state[16];
    char *old_hash, *new_hash; // NULL unless the password is to be hashed again
} Login;

// Compares the password. If there is no account with this name, that takes the same time. Slow, so
// for readers.
void login_compare(Db *db, const char *name, const char *password, Login *out);
void login_release(Login *login);
// After a password that matches: 403 `pending` or `blocked` if the account may not be used.
// Otherwise replaces a weak hash.
bool login_admit(const Turn *turn, const Login *login, Error *err);

// ---- wrong passwords
//
// Wrong passwords are counted by account and network together (see address_network), by network,
// and by account. After 10 wrong passwords, the network must wait before it tries this account
// again: half a minute, and twice as long after each further one, an hour at most. After 50 wrong
// passwords for any accounts, the network must wait for all accounts. After 20 wrong passwords from
// networks that the account never signed in from, these networks together may try once in 5
// seconds. That slows down guesses from many places, and the owner can still sign in from anywhere.
//
// A network that the account signed in from waits only for its own wrong passwords, a minute at
// most. The same is true of a known browser: its name from device_of() is given in place of the
// address. 429 sets *wait to the number of seconds. A name that no account has is not stored.
bool login_may_try(Db *db, const char *name, const char *address, double now, double *wait,
                   Error *err);
bool login_failed(Db *db, const char *name, const char *address, double now, Error *err);
// Forgets this network's wrong passwords. The network is then one of the 20 latest that the account
// is known to use.
bool login_succeeded(Db *db, int64_t user, const char *address, double now, Error *err);
bool login_failures_forget(Db *db, int64_t user, Error *err); // from all networks
// What a wrong password counts against: the browser, if the account signed in with it before,
// because only the owner of the account types there; otherwise the address. `device` is a name from
// device_of(), NULL for a browser without one. Borrowed from the arguments.
const char *login_place(Db *db, const char *name, const char *device, const char *address);

// The old password when a user changes it. Wrong ones are counted by session (its hash) alone,
// because only the user of the session types there.
bool change_may_try(Db *db, const char *session, double now, double *wait, Error *err);
bool change_failed(Db *db, const char *session, double now, Error *err);

// ---- signing up

typedef struct NewUser {
    const char *name, *email, *password; // email "": none
    const char *address;                 // of the connection
    const char *state;                   // filled by signup_check(): "active" or "pending"
} NewUser;

// Checks the setting `signup` (open, the default; approved; closed), the limit of new accounts of a
// network, and the rules for names, passwords and email addresses. Reads only. 403
// `signup_closed`, 429 `too_many_accounts`, 409 `name_taken`, 422.
bool signup_check(const Turn *turn, NewUser *user, Error *err);
// Makes the account. `hash` is from password_hash(). Checks again whatever may have changed since
// signup_check(): 429 `too_many_accounts`, 409 `name_taken`. Returns the id; 0 on error.
int64_t signup_store(const Turn *turn, const NewUser *user, const char *hash, Error *err);
// The limit of new accounts of one network. After 20 accounts, each further one waits as after
// wrong passwords. The count starts again after a day without a new account.
bool signup_may_try(Db *db, const char *address, double now, Error *err);
bool signup_note(Db *db, const char *address, double now, Error *err);
