// libmicrohttpd's side: accepting, reading, limits, and handing a request that has arrived whole to
// a reader or to the next turn. The turn itself is run_turn.h.
#pragma once

#include "server/loop/state.h"

bool http_start(Loop *loop, Error *err);
// After this no connection is accepted and every request is refused with 503.
void http_quiesce(Loop *loop);
// All requests must be answered before.
void http_stop(Loop *loop);
// Reads and writes on all connections that are ready.
void http_run(Loop *loop);
// What the request now needs: a reader, the turn, or nothing more; loop thread.
void http_dispatch(Loop *loop, RequestData *data);
// res is complete: lets the connection send it.
void http_resume(RequestData *data);
// Closes connections that take too long to send a request.
void http_tick(Loop *loop, double now);
// The client of this suspended request has gone.
bool http_is_gone(const RequestData *data);
