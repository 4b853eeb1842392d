// Requests for the role developer of an engine, and their answers by maintainers of that engine and
// admins. The only role that these answers can give is developer, of the engine of the request.
// All in the turn.
#pragma once

#include <jansson.h>

#include "server/submit/caller.h"

enum { ROLE_REQUEST_TEXT_MAX = 200, ROLE_REQUEST_AGAIN_DAYS = 7 };

// One request of an account for each engine; after a refusal the next one is taken a week later.
// 409 `has_role`, `asked_already`; 422 on `engine` or `text`.
bool role_request_ask(const Caller *caller, const char *engine, const char *text, Error *err);
// Gives the role or declines the request. Returns the document of the answer: new; NULL: 403, or
// 404 `no_such_request`, also if it was answered already.
json_t *role_request_answer(const Caller *caller, int64_t request, bool give, Error *err);
