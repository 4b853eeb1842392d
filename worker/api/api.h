// Calls of the server's API: JSON in, JSON out, and what an answer means for a worker. One Api a
// thread; threads share the identity.
#pragma once

#include <jansson.h>

#include "worker/api/client.h"
#include "worker/api/identity.h"

typedef struct Api {
    Identity *identity;
    Client *client;
} Api;

typedef enum {
    API_OK,      // 2xx
    API_REFUSED, // a definite no: err->status, err->code and err->message are the server's (or 413)
    API_AWAY,    // no answer that settles it (network, 5xx, 429, 426, 401, pages of a proxy): ask
                 // again later; err->status is 0 where there was no answer
    API_CANCELLED, // the client's cancel flag was raised
} ApiOutcome;

typedef struct ApiCall {
    const char *method;
    const char *path;  // below /api/v1/
    json_t *body;      // borrowed; or
    const char *bytes; // this, as application/zstd, or
    size_t bytes_size;
    bool packed;                 // as JSON that was compressed by zstd
    const char *expects;         // member without which a reply is no reply of ours; NULL: none
    bool may_be_empty;           // 204 is an answer
    const char *idempotency_key; // NULL: none
    int timeout_s;               // 0: 60
} ApiCall;

typedef struct ApiReply {
    int status;
    json_t *json;         // an object; NULL where the reply had no body
    double retry_after_s; // with API_AWAY
} ApiReply;

void api_reply_release(ApiReply *reply);

// What the server said of an error. False: a body of another shape, such as a proxy's page; `err`
// has the status then.
bool api_read_error(const HttpReply *http, Error *err);
// Tells the status what a reply says of games that count so far.
void api_read_credit(const json_t *reply);
// One call. Without a token yet, or on a 401, the machine registers with its key first (POST
// workers). `reply` is released by the caller whatever the outcome. `err` says what is wrong, or
// what is waited for.
ApiOutcome api_call(Api *api, const ApiCall *call, ApiReply *reply, Error *err);
// Calls until the answer settles it, waiting as backoff.h says; tells the log what it waits for.
ApiOutcome api_insist(Api *api, const ApiCall *call, ApiReply *reply, Error *err);
