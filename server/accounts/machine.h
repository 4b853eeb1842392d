// Machines of volunteers: which machines may register, and which machines may claim tasks. Callers
// have checked the lengths of texts and the bounds of numbers.
#pragma once

#include "server/common/batch_signature.h"
#include "server/common/hash.h"
#include "server/db/turn.h"

// A machine is online if its last request is at most so many seconds old. This is a rule of the
// system and not a setting: workers that wait or play send requests more often than that.
enum { ONLINE_S = 300 };

// A machine's description of itself.
typedef struct Introduction {
    const char *name, *version;
    const char *key; // secret that the machine keeps; the server recognises the machine by it
    const char *public_key; // with whose secret it signs its batches
    const char *host;       // hardware and system: a JSON object with sorted keys
    int64_t cores;          // physical
    const char *address;    // of the connection
    const char *user_token; // NULL: the machine has no account
} Introduction;

typedef struct Registration {
    int64_t id;
    bool is_new;
    char token[TOKEN_MAX];
    char owner[40];                      // "": none
    char installation[INSTALLATION_MAX]; // whose name the signatures of the machine hold
} Registration;

// Makes or updates the row of the machine. Each registration makes a new token. 403
// `accounts_required`, `blocked` or `token_revoked`, 401 `bad_token`, 422 `too_many_keys`, 429
// `too_many_registrations`.
// After the last of these, *wait_s is the number of seconds to wait; otherwise it is 0.
bool machine_register(Turn *turn, const Introduction *in, Registration *out, double *wait_s,
                      Error *err);

// Whether the machine may claim tasks: 403 `blocked` or `token_revoked`, or `sandbox_required` if
// the machine's sandbox is weaker than the setting sandbox_min requires.
bool machine_may_claim(const Turn *turn, int64_t machine, Error *err);
