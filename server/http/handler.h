// What a handler sees of HTTP: a request whose body has arrived whole, checked against its route's
// limits and rights, and a response to fill. Sockets, threads and transactions are the loop's.
//
// A route has up to two handlers. `prepare` runs on a reader thread with a read-only database:
// pages, searches, scrypt, git, compression, files. `apply` runs on the loop thread inside the
// turn's transaction, in a savepoint of its own: it alone may write, and it must be quick. With
// both, prepare runs first and hands over through `state`. req->turn is right for whichever runs.
//
// A handler that returns false has filled `err`: the loop undoes the savepoint and answers with
// that error, as JSON under /api/ and as a page elsewhere.
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "server/accounts/viewer.h"
#include "server/common/error.h"
#include "server/common/str.h"
#include "server/db/turn.h"
#include "server/http/site.h"

typedef struct Request {
    const Site *site;
    Turn *turn; // in prepare a reader's
    const char *method, *path;
    const char *params[4]; // what {…} in the pattern matched, in order
    const char *address;   // client's, after --trusted-proxy
    Viewer viewer;
    const char *body; // decoded (zstd, gzip) and NUL-terminated
    size_t body_size;
    void *state; // prepare to apply; released by state_free, if set
    void (*state_free)(void *state);
    struct RequestData *data; // the loop's own
} Request;

const char *request_query(const Request *req, const char *name);  // decoded; NULL when absent
const char *request_header(const Request *req, const char *name); // NULL when absent
int64_t request_id(const Request *req, int param);                // params[param] as id, else 0
bool request_is_api(const Request *req);
// Where documents are kept that do not depend on the viewer; NULL outside prepare.
struct Cache *request_cache(const Request *req);
// A form field (urlencoded or multipart); NULL when absent. For a file the size may exceed strlen.
const char *request_form(const Request *req, const char *name, size_t *size);
// The body as one JSON object, refusing unknown members, by jansson's json_unpack format (strict).
// The object stays alive as long as the request, so borrowed strings do.
bool request_json(Request *req, Error *err, const char *format, ...);
// The same as jansson reads it, borrowed; NULL: 400 or 422.
json_t *request_object(Request *req, Error *err);

typedef enum { WAIT_NONE, WAIT_TASK } WaitFor;

typedef struct Response {
    int status; // 200 unless set
    const char *type;
    Str body;
    struct {
        char name[32], value[512];
    } headers[8];
    int header_count;
    char *file;   // send this file instead of body (malloc'ed path); supports ranges
    WaitFor wait; // apply sets it to be called again when woken or at wait_until
    double wait_until;
    bool stream; // becomes a server-sent event stream
    // The template of the page that holds this form: where the handler fails, the page is shown
    // again with what was typed and the error beside its field. Not for the API.
    const char *form;
} Response;

void response_json(Response *res, int status, json_t *document); // steals
void response_text(Response *res, int status, const char *type, const char *text);
void response_redirect(Response *res, const char *location); // 303
void response_header(Response *res, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void response_file(Response *res, const char *type, const char *path);

typedef bool Handler(Request *req, Response *res, Error *err);

typedef enum {
    ACCESS_ANYONE,
    ACCESS_USER,   // signed in, or a user token with scope `submit` or `admin`
    ACCESS_PERSON, // signed in, or a user token with scope `admin`
    ACCESS_ADMIN,
    ACCESS_WORKER,      // a worker's token
    ACCESS_WORKER_ENDS, // also that of a machine that is barred: to hand in what it was dealt
} Access;

typedef struct Route {
    const char *method, *pattern; // "/api/v1/tests/{id}"
    Access access;
    size_t max_body; // bytes after decoding; 0: none allowed
    Handler *prepare, *apply;
} Route;

// A setting of the operator, from the settings table; `fallback` when it is not set. Read once for each request.
const char *request_setting(Request *req, const char *name, const char *fallback);
