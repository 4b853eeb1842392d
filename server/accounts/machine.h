// Machines of volunteers: which of them may register, and which of them may ask for work. The shape
// of what a machine says (lengths, bounds of numbers) is checked before.
#pragma once

#include "server/common/hash.h"
#include "server/db/turn.h"

// A machine is online if it has sent a request within so many seconds. A rule of the system:
// workers that wait or play send one more often, so an operator has nothing to choose.
enum { ONLINE_S = 300 };

// What a machine says of itself.
typedef struct Introduction {
    const char *name, *version;
    const char *key;        // the machine keeps it, so that the server recognises the machine
    const char *host;       // hardware and system: a JSON object with sorted keys
    int64_t cores;          // physical
    const char *address;    // of the connection
    const char *user_token; // NULL: the machine has no account
} Introduction;

typedef struct Registration {
    int64_t id;
    bool is_new;
    char token[TOKEN_MAX];
    char owner[40]; // "": none
} Registration;

// Makes or updates the row of the machine; each registration makes a new token. 403
// `accounts_required`, `blocked` or `token_revoked`, 401 `bad_token`, 429 `too_many_registrations`;
// of that, *wait_s are the seconds to wait, else 0.
bool machine_register(Turn *turn, const Introduction *in, Registration *out, double *wait_s,
                      Error *err);

// Whether the machine may claim tasks: 403 `blocked` or `token_revoked`, or `sandbox_required` if
// the machine confines engines less than the setting sandbox_min demands.
bool machine_may_claim(const Turn *turn, int64_t machine, Error *err);
