// Who sends a request, found from its headers and found again when it is carried out; and the defence against requests
// that another site makes a browser send. Accounts, sessions and tokens as rows are accounts/.
#pragma once

#include "server/http/request.h"

// Fills req.viewer from Authorization or the session's cookie. False: 401 for a token that is unknown; with a cookie
// that has run out the request is a visitor's. Loop thread, reads only.
bool viewer_identify(RequestData *data, Error *err);
// The same once more, when the request is about to be carried out: a body may take its time, and its sender may have
// been demoted, blocked or signed out meanwhile. False: 401 or 403, where user, scope, rights or session are not what
// they were. Loop thread, reads only.
bool viewer_again(RequestData *data, Error *err);
// For requests that change something without a bearer token: the page that sent it must be ours
// (Sec-Fetch-Site or Origin), and with a session it must show the session's token, as form field
// `csrf` or header X-CSRF-Token. Login and signup need no token. Call when the form is parsed.
bool viewer_check_csrf(const RequestData *data, Error *err);
