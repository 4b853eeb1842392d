// Documents: what pages and the read API show, one function each. A document is pure data: raw
// numbers, Unix seconds, null for what is not known; how it looks is decided in web/templates and
// format.c. Each runs with a reader's database and returns a new object, or NULL with an error that
// names what is not there. Members are described in API.md.
#pragma once

#include "server/http/handler.h"

enum { DOC_PAGE_SIZE = 25, DOC_PAGE_SIZE_MAX = 200 };

json_t *doc_home(Request *req, Error *err);

// Query: state (finished, the default, or pending, active, paused), color, ltc, user, text, before,
// limit.
json_t *doc_tests(Request *req, Error *err);
json_t *doc_test(Request *req, Error *err);    // params[0]
json_t *doc_history(Request *req, Error *err); // of the test params[0]
// The test params[0] against its base, with "base_diff": its base against the baseline. Query: diff
// ("all": as much as can be shown, for those who are signed in).
json_t *doc_diff(Request *req, Error *err);
bool doc_diff_kept(Request *req, Str *out); // as text, where it was made before

json_t *doc_faults(Request *req, Error *err); // of the test params[0]; before, limit
json_t *doc_fault(Request *req, Error *err);  // params[0]

json_t *doc_health(Request *req, Error *err);

json_t *doc_nets(Request *req, Error *err);     // engine, sha256, before, limit
json_t *doc_events(Request *req, Error *err);   // type, user, text, before, limit
json_t *doc_machines(Request *req, Error *err); // online, before, limit
json_t *doc_machine(Request *req, Error *err);  // params[0]
json_t *doc_user(Request *req, Error *err);     // params[0]
json_t *doc_account(Request *req, Error *err);  // the viewer's own
json_t *doc_users(Request *req, Error *err);    // for admins

// What a new test is made of: engines, presets, books, and the values that the form starts with
// (query: engine, preset, like). With `typed` the values are those of the request's form.
json_t *doc_form(Request *req, bool typed, Error *err);

// ---- parts

// The row without what is not for everybody: a test as lists show it. `row` has t.*, author,
// engine, cores, machines.
json_t *doc_test_summary(Request *req, const json_t *row);
json_t *doc_tests_in_state(Request *req, const char *state);
// A sentence on why no machine plays the active test of this summary; null where one does.
json_t *doc_idle(Request *req, const json_t *test);
// How many faults a test has, by kind and side; and with the newest few.
json_t *doc_fault_counts(Request *req, int64_t test);
json_t *doc_faults_short(Request *req, int64_t test);
// Query parameters within bounds.
int doc_limit(Request *req);
const char *doc_query(Request *req, const char *name); // "" when absent
// "TIME:ID" of the last row of a page, from which the next one goes on.
json_t *doc_cursor(double time, int64_t id);
bool doc_cursor_read(Request *req, double *time, int64_t *id, Error *err);
// Columns 0 and 1 of a row, or of each row of an array, become false and true. Gives `rows` back.
json_t *doc_booleans(json_t *rows, const char *names);
// Members of `from` by name, divided by blanks, into `to`.
void doc_copy(json_t *to, const json_t *from, const char *names);
