// libmicrohttpd's side: accepting, reading, limits, and handing a request that has arrived whole to
// a reader or to the next turn. The turn itself is loop.h.
#pragma once

#include "server/loop/app.h"

extern const Route *const http_routes[]; // all tables, and NULL

bool http_start(App *app, Error *err);
// After this no connection is accepted and every request is refused with 503.
void http_quiesce(App *app);
// All requests must be answered before.
void http_stop(App *app);
// Reads and writes whatever can be.
void http_run(App *app);
// What the request now needs: a reader, the turn, or nothing more; loop thread.
void http_dispatch(App *app, RequestData *data);
// res is complete: lets the connection send it.
void http_resume(RequestData *data);
// Closes connections that take too long to send a request.
void http_tick(App *app, double now);
// The client of this suspended request has gone.
bool http_is_gone(const RequestData *data);
