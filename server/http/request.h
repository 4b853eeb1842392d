// The loop's side of a request: the data behind Request.data, from the first header to the last
// byte of the reply. Handlers include only handler.h.
#pragma once

#include "server/accounts/session.h"
#include "server/http/handler.h"
#include "server/http/params.h"
#include "server/http/router.h"
#include "server/http/senders.h"

struct MHD_Connection;

// A body above this size is large. Only a few large bodies may be in memory at one time.
enum { BODY_LARGE = 4 << 20 };

// The stage of a request. It belongs to one thread at a time: to the loop's, except in
// STAGE_PREPARE.
typedef enum {
    STAGE_BODY,    // its body is arriving
    STAGE_DISCARD, // refused; the rest of its body is read and dropped, then the reply is sent
    STAGE_PREPARE, // with a reader, or in the readers' queue
    STAGE_APPLY,   // for the next turn
    STAGE_WAIT,    // called again when woken or at wait_until
    STAGE_REPLY,   // res is complete
    STAGE_STREAM,  // its connection is an event stream
    STAGE_PART,    // the next part of its reply is with a reader, or in the readers' queue
    STAGE_SEND,    // the client takes a part of its reply
} Stage;

typedef struct RequestData {
    Request req;
    Response res;
    Stage stage;
    const Route *route;
    struct MHD_Connection *connection;
    char *target; // as received, with the query
    char *path;   // of target, undecoded
    char *params[ROUTE_PARAMS_MAX];
    Params headers, query, cookies, form;
    Str raw;  // the body as it arrives
    Str body; // decoded, if it was encoded
    json_t *json;
    char address[48];
    bool https;                 // as a trusted proxy reports it
    bool is_head;               // answered like GET, without the body
    bool opened;                // body decoded, form parsed, CSRF checked
    int64_t *large;             // its slot among the large bodies; NULL: it has none
    Sender *network;            // of its address; counts requests in flight and streams
    Sender *sender;             // the machine or account, else the network; NULL: not known yet
    char owner[OWNER_NAME_MAX]; // of the machine
    Job job;                    // in a queue
    size_t charged;             // bytes of body or reply that the sender is charged
    bool in_flight, has_job, has_stream, has_download;
    struct Download *download; // of its reply; NULL: it has none, or it is over
    bool cut;      // its reply is broken off: a part of it could not be made, or was not taken
    bool replaced; // a newer claim of the machine is waiting
    size_t discarded;
    char request_hash[65]; // with an Idempotency-Key
    unsigned long version; // of the database: turns that were committed before it was read
    double started;        // when its headers had arrived; monotonic
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
// Call this when the body has arrived: undoes its Content-Encoding and parses a form. Any thread.
bool request_open_body(RequestData *data, Error *err);
// Frees the memory of the body. Call this when the reply is made.
void request_forget_body(RequestData *data);
// Makes the handler's error the reply, as JSON under /api/ and as a page elsewhere. Headers that
// the handler set stay.
void request_refuse(RequestData *data, const Error *err);
