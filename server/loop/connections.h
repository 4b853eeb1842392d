// The side of libmicrohttpd: accepts connections, reads requests within their limits, and passes a
// request that has arrived to a reader or to the next turn. run_turn.h is the turn.
#pragma once

#include "server/loop/state.h"

bool http_start(Loop *loop, Error *err);
// After this no connection is accepted and every request is refused with 503.
void http_quiesce(Loop *loop);
// All requests must have been answered before.
void http_stop(Loop *loop);
// Reads and writes on all connections that are ready.
void http_run(Loop *loop);
// Passes the request on: to a reader, to the turn, or to its reply; loop thread.
void http_dispatch(Loop *loop, RequestData *data);
// `res` is complete: lets the connection send it.
void http_resume(RequestData *data);
// Closes connections that take too long to send a request, and those that broke off within one.
void http_tick(Loop *loop, double now);
// True if the client of this suspended request has disconnected.
bool http_is_gone(const RequestData *data);
