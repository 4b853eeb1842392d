// The loop's side of Response; what handlers call is in handler.h.
#pragma once

#include "server/http/handler.h"

enum { RESPONSE_MAX = 64 << 20 };

void response_init(Response *res);
void response_release(Response *res);
// Back to an empty 200, headers kept.
void response_clear(Response *res);
