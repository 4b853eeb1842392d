// The loop's side of a Response. handler.h has the functions that handlers call.
#pragma once

#include "server/http/handler.h"

enum { RESPONSE_MAX = 64 << 20 };

void response_init(Response *res);
void response_release(Response *res);
// The value of the header; NULL if the response has none of this name.
const char *response_value(const Response *res, const char *name);
// Makes the response an empty 200 again; headers stay.
void response_clear(Response *res);
