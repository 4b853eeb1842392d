// Pages: a document, rendered by a template, within the frame that all pages have. page_load_from()
// reads the templates of web/templates once, at start. A page shows its document and what this
// layer adds to all of them: the viewer, the address, the time.
#pragma once

#include "server/http/handler.h"
#include "server/pages/doc.h"

// Reads all templates of `folder`, and the fingerprint of `static_folder`; replaces what was
// loaded. Returns false with file and line for a template that is broken. At start, before any
// thread renders.
bool page_load_from(const char *folder, const char *static_folder, Error *err);

// What documents need to know of a request. It is good as long as the request.
DocContext page_context(Request *req);

// Fills `res` with `template` of `document` (stolen) within layout.html. If that fails, with
// plain text.
void page_render(Request *req, Response *res, int status, const char *template, const char *title,
                 json_t *document);
// page_render() with 200, or the document itself under /api/. Returns false if `document` is
// NULL.
bool page_serve(Request *req, Response *res, const char *template, const char *title,
                json_t *document);

// ---- pages with more than their document; each is page_serve() under /api/

bool page_home(Request *req, Response *res, json_t *document);
// A list with filters: adds the link to the next page, and which choices of the filters are
// selected.
bool page_list(Request *req, Response *res, const char *template, const char *title,
               json_t *document);
bool page_events(Request *req, Response *res, json_t *document);
bool page_roles(Request *req, Response *res, json_t *document);
bool page_user(Request *req, Response *res, json_t *document);
bool page_machine(Request *req, Response *res, json_t *document);
bool page_faults(Request *req, Response *res, json_t *document);
bool page_fault(Request *req, Response *res, json_t *document);
// Adds history, charts and diff, which can fail.
bool page_test(Request *req, Response *res, json_t *document, Error *err);

// ---- forms and errors

// Fills `res` with a page for an error outside /api/. The status is set by the caller.
void page_error(Request *req, Response *res, const Error *err);
// Shows the page of `template` again, with the typed values and the error at its field. False: it
// cannot, show page_error instead.
bool page_form_error(Request *req, Response *res, const char *template, const Error *err);
// The account's page with a new API token {"id","name","scope","token"}, which is shown this once.
void page_token_made(Request *req, Response *res, const json_t *token);
// A page with a form; `err` NULL: nothing is wrong with it. See page_form_error().
bool page_form(Request *req, Response *res, const char *template, const Error *err);
// The form for a new test with what was typed, and with the document of its check (doc_check(),
// stolen). Under /api/ the document itself.
bool page_check(Request *req, Response *res, json_t *check);
// The account's page, with a token just made or NULL.
void page_account(Request *req, Response *res, int status, const Error *wrong, const json_t *token);

// ---- parts, for the files page_*.c and their tests

// Adds "bar", the place of the LLR between its bounds, to each test of the list.
void page_add_bars(json_t *tests);
// Adds the words of pages for sides and endings ("culprit", "what") to a fault.
void page_name_fault(json_t *fault);
// The same for the lists "counts" and "items" of a document of faults.
void page_name_faults(const json_t *document);
// The last position of a game in PGN as a board: {"rows": [{"rank", "squares": [{"dark", "last"?,
// "figure"?}]}], "fen", "turn", "plies"}; null if the text is no game.
json_t *page_board(const char *pgn);
