// Idempotency-Key: a POST to the API by a known user, sent again with the same key and the same
// content, gets the reply of the first and changes nothing. Kept for a day. Workers' calls have
// identities of their own (task and seq, the claim's key in the turn) and are left to them; calls
// about accounts are not kept, for the secrets in them.
#pragma once

#include "server/http/request.h"

// When the body has arrived: completes `res` and sets STAGE_REPLY where the reply is known. False:
// the key was used for other content (409) or is malformed (400). Loop thread.
bool idempotency_look(RequestData *data, Error *err);
// After apply, in its savepoint: keeps a successful reply.
bool idempotency_keep(RequestData *data, Error *err);
