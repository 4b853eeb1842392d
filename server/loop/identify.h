// Who asks: session cookies, users' and workers' bearer tokens, and the defence against requests
// that another site makes a browser send. Accounts themselves are users.h.
#pragma once

#include "server/http/request.h"

enum { SESSION_SECONDS = 30 * 86400, DEVICE_SECONDS = 400 * 86400, DEVICE_MAX = 48 };

// Fills req.viewer from Authorization or the cookie. False: 401 for a token that nobody has; a
// cookie that has run out is merely nobody. Loop thread, reads only.
bool viewer_identify(RequestData *data, Error *err);
bool viewer_may(const Viewer *viewer, Access access, Error *err);
// The same once more, when the deed is about to be done: a body may take its time, and its sender
// may have been demoted, blocked or signed out meanwhile. False: 401 or 403, where user, scope,
// rights or session are not what they were. Loop thread, reads only.
bool viewer_again(RequestData *data, Error *err);
bool access_is_worker(Access access);
// Of a machine's column `barred` in the view standings. False: 403 `blocked` or `token_revoked`.
bool machine_may_work(const char *barred, Error *err);
// For requests that change something without a bearer token: the page that sent it must be ours
// (Sec-Fetch-Site or Origin), and with a session it must show the session's token, as form field
// `csrf` or header X-CSRF-Token. Login and signup need no token. Call when the form is parsed.
bool viewer_check_csrf(const RequestData *data, Error *err);

// A new session for the user: sets the cookie; *csrf is its token. In apply.
bool session_start(Request *req, Response *res, int64_t user_id, char csrf[48], Error *err);
// Ends the viewer's session and takes the cookie back. In apply.
bool session_end(Request *req, Response *res, Error *err);

// A browser that signed in keeps a cookie of its own, which outlives sessions and says nothing but
// that it is the same browser: "device " and a hash of the cookie. False: it has none.
bool device_of(const Request *req, char out[DEVICE_MAX]);
void device_start(Request *req, Response *res, char out[DEVICE_MAX]); // gives it one
