// Calls of the server's API: JSON in, JSON out, and what a reply means for a worker. Each thread
// has an Api of its own; the threads share the identity.
#pragma once

#include <jansson.h>

#include "worker/api/client.h"
#include "worker/api/identity.h"

typedef struct Api {
    Identity *identity;
    Client *client;
} Api;

typedef enum {
    API_OK,        // 2xx
    API_REFUSED,   // a final refusal: err has the status, code and message of the server (or 413)
    API_AWAY,      // no final reply (network, 5xx, 429, 426, 401, a proxy's page): call again
                   // later; err->status is 0 if there was no reply
    API_CANCELLED, // the client's cancel flag was raised
} ApiOutcome;

typedef struct ApiCall {
    const char *method;
    const char *path;  // below /api/v1/
    json_t *body;      // borrowed; or
    const char *bytes; // this, as application/zstd, or
    size_t bytes_size;
    bool packed;                 // as JSON that was compressed by zstd
    const char *expects;         // a member that every reply to this call has; NULL: none
    bool may_be_empty;           // 204 is a valid reply
    const char *idempotency_key; // NULL: none
    int timeout_s;               // 0: 60
    size_t reply_max;            // bytes of a reply that is no error; 0: 64 KiB
    size_t values_max;           // JSON values in it; 0: as many as have room
} ApiCall;

typedef struct ApiReply {
    int status;
    json_t *json;         // an object; NULL if the reply had no body
    double retry_after_s; // with API_AWAY
} ApiReply;

void api_reply_release(ApiReply *reply);

// Reads the server's description of an error. False: the body has another form, such as a proxy's
// page; `err` then has the status alone.
bool api_read_error(const HttpReply *http, Error *err);
// Passes the number of counted games in a reply to the status line.
void api_read_credit(const json_t *reply);
// One call. If there is no token yet, or after a 401, the machine first registers with its key
// (POST workers). The caller releases `reply` after every outcome. `err` says what is wrong, or
// what the worker waits for.
ApiOutcome api_call(Api *api, const ApiCall *call, ApiReply *reply, Error *err);
// Repeats the call until a final reply, with the pauses of backoff.h. Logs what it waits for.
ApiOutcome api_insist(Api *api, const ApiCall *call, ApiReply *reply, Error *err);
