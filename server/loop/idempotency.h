// Idempotency-Key. A user sends a POST to the API again with the same key and the same content. The
// repeat gets the first reply and changes nothing. Replies are kept for a day. Workers' calls have
// their own identities (task and seq, the key of a claim in the turn) and are not handled here.
// Calls about accounts are not kept, because they contain secrets.
#pragma once

#include "server/http/request.h"

// When the body has arrived: if the reply is known, completes `res` and sets STAGE_REPLY. False:
// the key was used for other content (409) or is malformed (400). Loop thread.
bool idempotency_look(RequestData *data, Error *err);
// After apply, in its savepoint: stores a successful reply.
bool idempotency_keep(RequestData *data, Error *err);
