// A handler's view of HTTP: a request whose whole body has arrived and was checked against the
// limits and rights of its route, and a response to fill. Sockets, threads and transactions belong
// to the loop.
//
// A route has one or two handlers. `prepare` runs on a reader thread with a read-only database: for
// pages, searches, scrypt, git, compression, files. `apply` runs on the loop thread inside the
// turn's transaction, in its own savepoint. Only `apply` may write, and it must be quick. If a
// route has both, `prepare` runs first and hands data over through `state`. req->turn belongs to
// the handler that runs.
//
// A handler that returns false has filled `err`. The loop undoes the savepoint and sends the error,
// as JSON under /api/ and as a page elsewhere.
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
    Turn *turn; // in prepare, the reader's turn
    const char *method, *path;
    const char *params[4]; // the texts that {…} in the pattern matched, in order
    const char *address;   // the client's, see --trusted-proxy
    Viewer viewer;
    const char *body; // decoded (zstd, gzip) and NUL-terminated
    size_t body_size;
    void *state; // from prepare to apply; released by state_free, if set
    void (*state_free)(void *state);
    struct RequestData *data; // private to the loop
} Request;

const char *request_query(const Request *req, const char *name);  // decoded; NULL when absent
const char *request_header(const Request *req, const char *name); // NULL when absent
int64_t request_id(const Request *req, int param);                // params[param] as id, else 0
bool request_is_api(const Request *req);
// The cache for documents that do not depend on the viewer; NULL outside prepare.
struct Cache *request_cache(const Request *req);
// A form field (urlencoded or multipart); NULL when absent. For a file the size may exceed strlen.
const char *request_form(const Request *req, const char *name, size_t *size);
// Reads the body as one JSON object by jansson's json_unpack format (strict), and refuses unknown
// members. The object, and so the borrowed strings, live as long as the request.
bool request_json(Request *req, Error *err, const char *format, ...);
// The body as a JSON object, borrowed; NULL: 400 or 422.
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
    // The body is long and comes part by part: a reader calls this with an empty `body` for each
    // part, as soon as the client has taken the part before, and always with a new look at the
    // database. It sets `more` to NULL with the last part; a part may be empty. Its state is
    // req->state. False: the reply is broken off, so that the client sees that it is not whole.
    // For routes without `apply`.
    bool (*more)(Request *req, struct Response *res, Error *err);
    // The template of the page with this form. If the handler fails, the page is shown again with
    // the entered values and the error at its field. Not for the API.
    const char *form;
} Response;

void response_json(Response *res, int status, json_t *document); // steals
// The error as a client of the API gets it, from a handler that returns true so that what it wrote
// stays.
void response_error(Response *res, const Error *err);
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
    ACCESS_WORKER_ENDS, // also the token of a blocked machine: it may send results of its tasks
} Access;

typedef struct Route {
    const char *method, *pattern; // "/api/v1/tests/{id}"
    Access access;
    size_t max_body; // bytes after decoding; 0: none allowed
    Handler *prepare, *apply;
} Route;
