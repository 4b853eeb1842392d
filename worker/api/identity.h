// The identity of this worker on one server: a machine key, by which the server knows the machine
// again, a signing key (Ed25519), with which it signs its batches, both made once and kept on disk,
// and the session token that the server gave for them. The threads that call the server share it.
#pragma once

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "server/common/batch_signature.h"
#include "server/common/error.h"
#include "worker/api/outage.h"

enum { SESSION_TOKEN_MAX = 256 };

typedef struct Identity {
    const char *server;            // base URL, borrowed
    char *folder;                  // of this server, in the state folder
    bool known;                    // the machine key was there before
    json_t *registration;          // body of POST workers
    Outage outage;                 // what the threads wait for
    pthread_mutex_t register_lock; // held while one thread registers
    char secret[SIGNING_KEY_MAX];  // the signing key
    char public_key[SIGNING_KEY_MAX];
    pthread_mutex_t lock;                // guards what follows
    char installation[INSTALLATION_MAX]; // the server's name for itself; "" before it is known
    char token[SESSION_TOKEN_MAX];       // "" before the first registration
} Identity;

// Loads or makes the identity under `state`. `registration` is what the server wants to know of
// this machine (name, host, …), stolen; the keys are added here. A key that cannot be read is
// replaced by a new one, and the log says so. The file is private to this user.
bool identity_open(Identity *identity, const char *state, const char *server, json_t *registration,
                   Error *err);
void identity_close(Identity *identity);
void identity_token(Identity *identity, char out[SESSION_TOKEN_MAX]);
// What the server gave at the registration: the session token, and its name for itself.
bool identity_set(Identity *identity, const char *token, const char *installation, Error *err);
// Adds `key` and `signature` to the body of a batch of `test`.
void identity_sign(Identity *identity, int64_t test, int64_t task, json_t *batch);
