// What the core calls in modules that stand above it. Each is theirs to define.
#pragma once

#include "server/http/handler.h"

// Reads the templates of the pages; false where one is broken. At start.
bool page_load(App *app, Error *err);
// Fills `res` with a page for an error outside /api/. The status is set by the caller.
void page_error(Request *req, Response *res, const Error *err);
// Shows the page of `template` again with what was typed and the error beside its field. False:
// cannot, show page_error instead.
bool page_form_error(Request *req, Response *res, const char *template, const Error *err);
// The account's page with a new API token {"id","name","scope","token"}, which is shown this once.
void page_token_made(Request *req, Response *res, const json_t *token);
