// Documents: what the read API answers and pages show, one function each. A document is the view
// model of its page: raw numbers, Unix seconds, null if a value is unknown. Templates and
// format.c decide how it looks. API.md describes the members.
//
// The functions know nothing of requests: they take a DocContext and, if they show one thing,
// its id or name. Each returns a new object, or NULL with an error that names the missing thing.
//
// The prefix stays `doc_`, although the field says "view model": each of these functions also makes
// a reply of the read API, and API.md calls those documents.
#pragma once

#include <jansson.h>

#include "server/accounts/viewer.h"
#include "server/common/error.h"
#include "server/common/str.h"
#include "server/db/db.h"
#include "server/http/cache.h"
#include "server/http/params.h"

enum { DOC_PAGE_SIZE = 25, DOC_PAGE_SIZE_MAX = 200 };

// What a document depends on besides the thing that it shows. page_context() makes one of a
// request; a test fills in `db`, `now` and `viewer`. All members are borrowed.
typedef struct DocContext {
    Db *db; // a reader's is enough
    double now;
    const Viewer *viewer;
    const Params *query;         // the parameters of the address; NULL: none
    const char *data;            // the server's data folder, for repositories and its disk
    Cache *cache;                // documents that were made before; NULL: none are kept
    unsigned long cache_version; // changes with every COMMIT of the server
} DocContext;

json_t *doc_home(const DocContext *ctx);

// Query: state (finished, the default, or pending, active, paused), color, ltc, user, text, before,
// limit.
json_t *doc_tests(const DocContext *ctx, Error *err);
json_t *doc_test(const DocContext *ctx, int64_t id, Error *err);
json_t *doc_history(const DocContext *ctx, int64_t test, Error *err);
// The test against its base, with "base_diff": its base against the baseline. Query: diff ("all":
// as much as can be shown, for those who are signed in).
json_t *doc_diff(const DocContext *ctx, int64_t test, Error *err);
// Appends the text of doc_diff() if it was made before, else returns false.
bool doc_diff_kept(const DocContext *ctx, int64_t test, Str *out);

json_t *doc_faults(const DocContext *ctx, int64_t test, Error *err); // query: before, limit
json_t *doc_fault(const DocContext *ctx, int64_t id, Error *err);

// `undeclared_proxy`: whether a request came through a proxy that the operator did not declare.
json_t *doc_health(const DocContext *ctx, bool undeclared_proxy, Error *err);

json_t *doc_engines(const DocContext *ctx);
json_t *doc_books(const DocContext *ctx);
json_t *doc_book(const DocContext *ctx, int64_t id, Error *err);
json_t *doc_nets(const DocContext *ctx, Error *err);     // query: engine, sha256, before, limit
json_t *doc_events(const DocContext *ctx, Error *err);   // query: type, user, text, before, limit
json_t *doc_machines(const DocContext *ctx, Error *err); // query: online, before, limit
json_t *doc_machine(const DocContext *ctx, int64_t id, Error *err);
json_t *doc_suspects(const DocContext *ctx);
json_t *doc_user(const DocContext *ctx, const char *name, Error *err);
json_t *doc_account(const DocContext *ctx); // the viewer's own
json_t *doc_users(const DocContext *ctx);   // for admins
json_t *doc_roles(const DocContext *ctx);   // requests for roles; the parts of it that others show:
json_t *doc_roles_lacking(const DocContext *ctx); // engines of which the viewer has no role
int64_t doc_roles_to_answer(const DocContext *ctx);

// The form for a new test: engines, presets, books, and the values of its fields. `typed` NULL: the
// values of a fresh form (query: engine, preset, like); else the fields as they were submitted.
json_t *doc_form(const DocContext *ctx, const Params *typed, Error *err);

// ---- parts of documents, for the files doc_*.c

// A test as lists show it, without the columns that are not public. `row` has t.*, author, engine,
// cores, machines.
json_t *doc_test_summary(const DocContext *ctx, const json_t *row);
json_t *doc_tests_in_state(const DocContext *ctx, const char *state);
// A sentence on why no machine plays the active test of this summary; null if one does.
json_t *doc_idle(const DocContext *ctx, const json_t *test);
// How many faults a test has, by kind and side; doc_faults_short() adds the newest few.
json_t *doc_fault_counts(const DocContext *ctx, int64_t test);
json_t *doc_faults_short(const DocContext *ctx, int64_t test);

// Fills `err` with 404 `no_such_WHAT`: "there is no WHAT 12". Returns NULL.
json_t *doc_missing(Error *err, const char *what, int64_t id);
// Query parameters within their bounds.
int doc_limit(const DocContext *ctx);
const char *doc_query(const DocContext *ctx, const char *name); // "" when absent
// "TIME:ID" of the last row of a page: the parameter `before` of the next page.
json_t *doc_cursor(double time, int64_t id);
bool doc_cursor_read(const DocContext *ctx, double *time, int64_t *id, Error *err);
// Copies the members of `from` that are named, separated by blanks, into `to`.
void doc_copy(json_t *to, const json_t *from, const char *names);

// Documents that do not depend on the viewer are kept in memory. One that `lasts` never changes;
// others are good until the next COMMIT of the server. doc_kept() returns NULL if there is none.
json_t *doc_kept(const DocContext *ctx, const char *key, bool lasts);
bool doc_kept_text(const DocContext *ctx, const char *key, Str *out); // of one that lasts
void doc_keep(const DocContext *ctx, const char *key, bool lasts, const json_t *document);
