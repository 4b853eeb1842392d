// Finds the sender of a request from its headers, and again when the request is carried out. Also
// the defence against requests that another site makes a browser send. accounts/ has the rows of
// accounts, sessions and tokens.
#pragma once

#include "server/loop/state.h"

// Fills req.address and `https`. Behind a trusted proxy, all lines of X-Forwarded-For are one list,
// and its rightmost address that is no trusted proxy counts; of X-Forwarded-Proto the last value
// counts. Also notes whether the request comes from outside. False: 503, that could not be written.
bool client_identify(Loop *loop, RequestData *data, Error *err);
// Fills req.viewer from the header Authorization or the session's cookie. False: 401 for an unknown
// token. If the session of a cookie has ended, the request is a visitor's. Loop thread, reads only.
bool viewer_identify(RequestData *data, Error *err);
// Does the same again just before the request is carried out. A body may take long to arrive, and
// meanwhile its sender may have lost a role, been blocked or signed out. False: 401 or 403 if user,
// scope, rights or session have changed. Loop thread, reads only.
bool viewer_again(RequestData *data, Error *err);
// For requests that change data without a bearer token. The page that sent the request must be ours
// (Sec-Fetch-Site or Origin). With a session, the request must have the session's token, as the
// form field `csrf` or the header X-CSRF-Token. Login and signup need no token. Call this when the
// form is parsed.
bool viewer_check_csrf(const RequestData *data, Error *err);
