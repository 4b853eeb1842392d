// Sessions of browsers and API tokens, as rows: which account or machine a secret belongs to, and
// how a session begins and ends. The database holds only the SHA-256 of each secret. Cookies and
// headers are http's.
#pragma once

#include "server/accounts/viewer.h"
#include "server/common/hash.h"
#include "server/db/turn.h"

enum { SESSION_SECONDS = 30 * 86400, OWNER_NAME_MAX = 64 };

// Each fills `viewer` with the account or machine that the secret stands for. False: it stands for
// none (any more). That an account's token is used is noted once an hour.
bool session_viewer(const Turn *turn, const char *secret, size_t size, Viewer *viewer);
bool user_token_viewer(Turn *turn, const char *token, Viewer *viewer);
// `owner`: to whom the machine's requests are charged.
bool worker_token_viewer(const Turn *turn, const char *token, Viewer *viewer,
                         char owner[OWNER_NAME_MAX]);

// What the browser is told: the cookie's value, and what its forms must show.
typedef struct NewSession {
    char secret[TOKEN_MAX], csrf[TOKEN_MAX];
} NewSession;

bool session_start(const Turn *turn, int64_t user_id, const char *address, NewSession *out,
                   Error *err);
bool session_end(const Turn *turn, const char *session_hash, Error *err);
