// Pages: a document through a template into the frame that all pages have. The templates of
// web/templates are read once, at start (page_load in hooks.h); what a page shows is its document,
// plus what this layer adds for all: who looks on, where he is, what time it is.
#pragma once

#include "server/http/handler.h"

// Reads all templates of `folder` and the fingerprint of `static_folder`; replaces what was loaded.
// False with file and line for a template that is broken. At start, before any thread renders.
bool page_load_from(const char *folder, const char *static_folder, Error *err);

// Fills `res` with `template` of `document` (stolen) within layout.html. Where that fails, with a
// plain page that says so.
void page_render(Request *req, Response *res, int status, const char *template, const char *title,
                 json_t *document);
// page_render with 200, or the document itself under /api/; false where `document` is NULL.
bool page_serve(Request *req, Response *res, const char *template, const char *title,
                json_t *document);

// Pages whose document is the form's; `err` NULL: nothing is wrong with it. See page_form_error.
bool page_form(Request *req, Response *res, const char *template, const Error *err);
// The account's page, with a token just made or NULL.
void page_account(Request *req, Response *res, int status, const Error *wrong, const json_t *token);
// Adds what only drawings need: "bar" to each test of the list.
void page_add_bars(json_t *tests);
// Adds the words of pages for sides and endings ("culprit", "what"), to a fault, or to all that a
// list of faults counts and shows.
void page_name_fault(json_t *fault);
void page_name_faults(const json_t *document);
void page_name_machine_faults(const json_t *document);
// The last position of a game in PGN, to be drawn: {"rows": [{"rank", "squares": [{"dark", "last"?,
// "figure"?}]}], "fen", "turn", "plies"}; null where it is no game.
json_t *page_board(const char *pgn);
