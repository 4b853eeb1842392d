// The identity of this worker on one server: a machine key, made once and kept on disk, and the
// session token that the server gave for it. The threads that call the server share it.
#pragma once

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

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
    pthread_mutex_t lock;          // guards the token
    char token[SESSION_TOKEN_MAX]; // "" before the first registration
} Identity;

// Loads or makes the identity under `state`. `registration` is what the server wants to know of
// this machine (name, host, …), stolen; the machine key is added here.
bool identity_open(Identity *identity, const char *state, const char *server, json_t *registration,
                   Error *err);
void identity_close(Identity *identity);
void identity_token(Identity *identity, char out[SESSION_TOKEN_MAX]);
bool identity_set_token(Identity *identity, const char *token, Error *err);
