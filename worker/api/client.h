// An HTTP client on libcurl: one request, one reply. It verifies certificates and speaks only http
// and https. It follows a few redirects if the request allows it, but none from https to http.
// Every reply has a size limit, and so have its headers; every request has a time limit. Each
// thread has a Client of its own. The caller interprets the status.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/common/error.h"
#include "server/common/str.h"

typedef struct Client Client;

// `cancel`, if not NULL, ends a request early (within about a second) once it reads true.
// `agent` is the User-Agent. Both are borrowed for the client's life.
Client *client_new(const char *agent, const atomic_bool *cancel);
void client_free(Client *client);
void client_release(Client **client); // for scope()

typedef struct HttpRequest {
    const char *method; // GET, POST, PUT
    const char *url;
    const char *token;           // NULL: no Authorization
    const char *type;            // of the body; NULL: application/json
    const char *encoding;        // Content-Encoding; NULL: none
    const char *idempotency_key; // NULL: none
    const void *body;            // NULL: none
    size_t body_size;
    int timeout_s;    // for the whole exchange
    size_t reply_max; // bytes of the body of a reply that is no error; at least 64 KiB
    int64_t resume;   // first byte wanted; 0: all
    bool follow;      // redirects
    bool (*sink)(void *ctx, const char *bytes, size_t size); // takes a 200 or 206 body instead
    void *sink_ctx;
} HttpRequest;

typedef struct HttpReply {
    int status;
    double retry_after_s; // 0 when the server named none
    char redirect[160];   // a redirect that was not followed, cut; "": none
    Str body;             // NUL-terminated
    bool cut;             // an error with more than 64 KiB, of which the body has the first
} HttpReply;

void http_reply_release(HttpReply *reply);

// False: no complete reply came (name, connection, TLS, time, size); `err` says why. On true
// `reply` is filled, and the caller releases it.
bool client_send(Client *client, const HttpRequest *request, HttpReply *reply, Error *err);
