// Turns a Response into libmicrohttpd's and queues it: security headers on every reply, ETag and
// If-None-Match, ranges of files.
#pragma once

#include "server/loop/state.h"

// Loop thread, in the access handler. False: the connection must be closed.
bool http_reply(Loop *loop, RequestData *data);
