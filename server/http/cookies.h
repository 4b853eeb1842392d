// The two cookies of a browser: one of the session, and one that outlives sessions and only
// identifies the browser.
#pragma once

#include "server/http/request.h"

enum { DEVICE_SECONDS = 400 * 86400, DEVICE_MAX = 48 };

// The session's secret from the cookie that the browser sent; NULL: it sent none.
const char *session_cookie(const RequestData *data, size_t *size);
void session_cookie_set(const Request *req, Response *res, const char *secret, long seconds);
void session_cookie_clear(const Request *req, Response *res);

// "device " and a hash of the browser's device cookie. False: it has none.
bool device_of(const Request *req, char out[DEVICE_MAX]);
void device_start(const Request *req, Response *res, char out[DEVICE_MAX]); // sets one
