// What people send to server/submit, read from a request, be it a form or JSON.
#pragma once

#include "server/http/handler.h"
#include "server/submit/caller.h"
#include "server/submit/net_upload.h"
#include "server/submit/rights.h"
#include "server/submit/submit.h"

// Borrows from the request.
Caller submitted_caller(const Request *req);
// The viewer's right to do it to the test of the address (rights.h): asked before the body is read,
// so that a stranger learns nothing of what is wrong with the body.
bool submitted_right(const Request *req, Action action, Error *err);
// The fields of a test, new; NULL: 400 or 422.
json_t *submitted_fields(Request *req, Error *err);
// The patch of a form's file field; without one its bytes are NULL.
PatchBytes submitted_patch(const Request *req);
// The file of a form with what it says of it.
bool submitted_is_form(const Request *req); // whether the body is one
NetFile submitted_net_of_form(const Request *req);
// The same, or the request's body with its name, note and sha256 in the query.
NetFile submitted_net(const Request *req);
