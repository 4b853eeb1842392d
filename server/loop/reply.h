// Makes a Response one of libmicrohttpd's and queues it. Adds security headers to every reply, ETag
// and If-None-Match, and ranges of files.
#pragma once

#include "server/loop/state.h"

// Loop thread, in the access handler. False: the connection must be closed.
bool http_reply(Loop *loop, RequestData *data);
