// Rows of browser sessions and API tokens: the account or machine that a secret belongs to, and the
// beginning and end of a session. The database holds only the SHA-256 of each secret. Cookies and
// headers belong to http/.
#pragma once

#include "server/accounts/viewer.h"
#include "server/common/hash.h"
#include "server/db/turn.h"

enum { SESSION_SECONDS = 30 * 86400, OWNER_NAME_MAX = 64 };

// Each fills `viewer` with the account or machine of the secret. False: the secret is unknown or no
// longer valid. The use of an account's token is noted once an hour.
bool session_viewer(const Turn *turn, const char *secret, size_t size, Viewer *viewer);
bool user_token_viewer(Turn *turn, const char *token, Viewer *viewer);
// The machine's requests are charged to `owner`.
bool worker_token_viewer(const Turn *turn, const char *token, Viewer *viewer,
                         char owner[OWNER_NAME_MAX]);

// The browser gets both: the value of its cookie, and the token that its forms must contain.
typedef struct NewSession {
    char secret[TOKEN_MAX], csrf[TOKEN_MAX];
} NewSession;

bool session_start(const Turn *turn, int64_t user_id, const char *address, NewSession *out,
                   Error *err);
bool session_end(const Turn *turn, const char *session_hash, Error *err);
