// The loop's side of a request: what stands behind Request.data, from the first header to the last
// byte of the reply. Handlers see handler.h only.
#pragma once

#include "server/accounts/session.h"
#include "server/http/handler.h"
#include "server/http/params.h"
#include "server/http/router.h"
#include "server/http/senders.h"

struct MHD_Connection;

// A body above this is kept in memory with few others.
enum { BODY_LARGE = 4 << 20 };

// Where a request is. It belongs to one thread at a time: the loop's, but for STAGE_PREPARE.
typedef enum {
    STAGE_NEW,     // headers have not been looked at
    STAGE_BODY,    // its body is arriving
    STAGE_DISCARD, // refused; the rest of its body is read and thrown away, then the reply goes out
    STAGE_PREPARE, // with a reader, or in the readers' queue
    STAGE_APPLY,   // for the next turn
    STAGE_WAIT,    // called again when woken or at wait_until
    STAGE_REPLY,   // res is complete
    STAGE_STREAM,  // its connection is an event stream
} Stage;

typedef struct RequestData {
    Request req;
    Response res;
    Stage stage;
    const Route *route;
    struct MHD_Connection *connection;
    char *target; // as it came, with the query
    char *path;   // of target, undecoded
    char *params[ROUTE_PARAMS_MAX];
    Params headers, query, cookies, form, settings;
    Str raw;  // the body as it arrives
    Str body; // decoded, where it was encoded
    json_t *json;
    char address[48];
    bool https;                 // as a trusted proxy says
    bool opened;                // body decoded, form parsed, CSRF checked
    int64_t *large;             // its place among the large bodies; NULL: it has none
    Sender *network;            // of its address; counts requests in flight and streams
    Sender *sender;             // the machine or account, or else the network; NULL: not known yet
    char owner[OWNER_NAME_MAX]; // of the machine
    Job job;                    // in a queue
    size_t charged;             // to the sender, of body or reply
    bool in_flight, has_job, has_stream;
    bool replaced; // a newer claim of the machine waits
    size_t discarded;
    char request_hash[65]; // with an Idempotency-Key
    unsigned long version; // of the database: turns committed before it was read
    double started;        // monotonic
    struct RequestData *next;
} RequestData;

typedef struct RequestList {
    RequestData *first, *last;
    size_t count;
} RequestList;

void list_push(RequestList *list, RequestData *data);
RequestData *list_pop(RequestList *list); // NULL when empty

RequestData *request_new(const Site *site, const char *target);
void request_free(RequestData *data);
// Splits and decodes `target` into path and query. False: 400.
bool request_set_target(RequestData *data, Error *err);
bool request_set_params(RequestData *data, const RouteMatch *match, Error *err);
void request_set_cookies(RequestData *data);
// The body has arrived: undoes its Content-Encoding, parses a form. Any thread.
bool request_open_body(RequestData *data, Error *err);
// The body's memory is given back; for when the reply is made.
void request_forget_body(RequestData *data);
// The handler's error becomes the reply, as JSON under /api/ and as a page elsewhere. Headers that
// the handler set stay.
void request_refuse(RequestData *data, const Error *err);
