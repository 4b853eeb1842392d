// The loop's side of a Response. handler.h has the functions that handlers call.
#pragma once

#include "server/http/handler.h"

enum { RESPONSE_MAX = 64 << 20 };

void response_init(Response *res);
void response_release(Response *res);
// Makes the response an empty 200 again; headers stay.
void response_clear(Response *res);
