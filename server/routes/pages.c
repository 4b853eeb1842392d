// The pages and the read API: for each document its address as a page and under /api/v1.
#include <string.h>

#include "server/common/json_member.h"
#include "server/pages/chart.h"
#include "server/pages/doc.h"
#include "server/pages/page.h"

static const char *text_of(const json_t *document, const char *object, const char *name) {
    const char *text = json_string_value(json_object_get(json_object_get(document, object), name));
    return text ? text : "";
}

// ---- home, lists --------------------------------------------------------------------------------

static bool home(Request *req, Response *res, Error *err) {
    static const char *const lists[] = {"pending", "paused", "active", "finished"};
    json_t *document = doc_home(req, err);
    for (size_t i = 0; document && !request_is_api(req) && i < sizeof lists / sizeof *lists; i++)
        page_add_bars(json_object_get(json_object_get(document, lists[i]), "items"));
    return page_serve(req, res, "home", "Tests", document);
}

static bool tests(Request *req, Response *res, Error *err) {
    return page_serve(req, res, "finished", "Finished tests", doc_tests(req, err));
}

// What was asked for, as the address of the next page must ask again.
static void add_more_link(Request *req, json_t *document) {
    static const char *const kept[] = {"color", "ltc", "user", "text", "type", "online", "engine"};
    const char *next = json_string_value(json_object_get(document, "next"));
    if (!next)
        return;
    json_t *pairs = json_array();
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (*doc_query(req, kept[i]))
            json_array_append_new(
                pairs, json_pack("{s:s, s:s}", "name", kept[i], "value", doc_query(req, kept[i])));
    json_object_set_new(document, "more", json_pack("{s:s, s:o}", "before", next, "kept", pairs));
}

// Which of a list's choices is the present one: {"color": {"red": true}, …}.
static void add_chosen(json_t *document) {
    const json_t *filter = json_object_get(document, "filter");
    json_t *chosen = json_object(), *value;
    const char *name;
    json_object_foreach ((json_t *)filter, name, value)
        if (json_is_string(value) && json_string_length(value))
            json_object_set_new(chosen, name, json_pack("{s:b}", json_string_value(value), 1));
    json_object_set_new(document, "chosen", chosen);
}

static bool serve_list(Request *req, Response *res, const char *template, const char *title,
                       json_t *document) {
    if (document && !request_is_api(req)) {
        add_more_link(req, document);
        add_chosen(document);
    }
    return page_serve(req, res, template, title, document);
}

static bool finished(Request *req, Response *res, Error *err) {
    return serve_list(req, res, "finished", "Finished tests", doc_tests(req, err));
}

// For the list to choose from.
static void add_event_types(json_t *document) {
    static const char *const names[] = {
        "submitted", "approved",  "started", "verdict", "stopped", "harmful", "paused", "resumed",
        "modified",  "merged",    "failed",  "expired", "crash",   "user",    "engine", "excluded",
        "blocked",   "unblocked", "replay",  "net",     "disk",    "bench"};
    const char *chosen = text_of(document, "filter", "type");
    json_t *types = json_array();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_array_append_new(types, json_pack("{s:s, s:b}", "name", names[i], "selected",
                                               strcmp(names[i], chosen) == 0));
    json_object_set_new(document, "types", types);
}

static bool events(Request *req, Response *res, Error *err) {
    json_t *document = doc_events(req, err);
    if (document && !request_is_api(req))
        add_event_types(document);
    return serve_list(req, res, "events", "Events", document);
}

static bool nets(Request *req, Response *res, Error *err) {
    return serve_list(req, res, "nets", "Nets", doc_nets(req, err));
}

static bool machines(Request *req, Response *res, Error *err) {
    return serve_list(req, res, "machines", "Machines", doc_machines(req, err));
}

// ---- one thing ----------------------------------------------------------------------------------

static bool machine(Request *req, Response *res, Error *err) {
    json_auto_t *document = doc_machine(req, err);
    if (document && !request_is_api(req))
        page_name_machine_faults(document);
    char *title scope(free_ptr) = xasprintf("Machine %s", text_of(document, "machine", "name"));
    return page_serve(req, res, "machine", title, json_incref(document));
}

static bool user(Request *req, Response *res, Error *err) {
    json_auto_t *document = doc_user(req, err);
    if (document && !request_is_api(req))
        page_add_bars(json_object_get(document, "tests"));
    return page_serve(req, res, "user", text_of(document, "user", "name"), json_incref(document));
}

// A page that only brings itself up to date leaves out what never changes.
static bool is_live(Request *req) {
    return request_header(req, "X-Patchmate-Live") != NULL;
}

// Long files begin folded, but none that could do harm.
static void fold_files(json_t *diff) {
    enum { LONG_FILE = 400 };
    json_t *file;
    size_t i;
    json_array_foreach (json_object_get(diff, "files"), i, file) {
        json_int_t lines = member_int(file, "additions") + member_int(file, "deletions");
        bool risky = json_array_size(json_object_get(file, "risk")) > 0;
        const char *status = json_string_value(json_object_get(file, "status"));
        const char *mode = member_text(file, "mode"), *old_mode = member_text(file, "old_mode");
        json_object_set_new(file, "folded", json_boolean(lines > LONG_FILE && !risky));
        json_object_set_new(file, "renamed", json_boolean(strcmp(status, "renamed") == 0));
        json_object_set_new(file, "mode_changed",
                            json_boolean(*mode && *old_mode && strcmp(mode, old_mode) != 0));
    }
}

// Whether what there is to approve is all on the page, for the button beside it.
static json_t *what_is_shown(Request *req, const json_t *diff) {
    const json_t *base = json_object_get(diff, "base_diff");
    bool cut = json_is_true(json_object_get(diff, "truncated")) ||
               json_is_true(json_object_get(base, "truncated"));
    bool tried = strcmp(doc_query(req, "diff"), "all") == 0;
    return json_pack(
        "{s:b, s:b, s:b, s:I}", "whole", !cut, "more", cut && !tried, "too_long", cut && tried,
        "unseen",
        (json_int_t)(member_int(diff, "unseen_files") + member_int(base, "unseen_files")));
}

// A page that brings itself up to date needs the diff only for the button.
static bool add_diff(Request *req, json_t *document, Error *err) {
    if (is_live(req) && strcmp(member_text(document, "state"), "pending") != 0)
        return true;
    json_auto_t *diff = doc_diff(req, err);
    if (!diff)
        return false;
    fold_files(diff);
    fold_files(json_object_get(diff, "base_diff"));
    json_object_set_new(document, "shown", what_is_shown(req, diff));
    if (!is_live(req))
        json_object_set(document, "diff", diff);
    return true;
}

static void add_charts(json_t *document) {
    const json_t *stats = json_object_get(document, "stats");
    const json_t *history = json_object_get(document, "history");
    json_object_set_new(document, "charts",
                        json_pack("{s:o, s:o, s:o}", "llr", chart_llr(history, stats), "elo",
                                  chart_elo(history), "pairs", chart_pairs(stats)));
    json_object_set_new(document, "bar", chart_progress(stats));
}

static bool test_page(Request *req, Response *res, json_t *document, Error *err) {
    json_t *history = doc_history(req, err);
    if (!history || !add_diff(req, document, err)) {
        json_decref(history);
        return false;
    }
    json_object_set_new(document, "history", history);
    page_name_faults(json_object_get(document, "faults"));
    bool played = json_array_size(json_object_get(document, "workers")) > 0;
    json_object_set_new(document, "played", json_boolean(played));
    add_charts(document);
    const char *state = json_string_value(json_object_get(document, "state"));
    json_object_set_new(document, "is", json_pack("{s:b}", state, 1));
    char *title scope(free_ptr) = xasprintf(
        "%s: test %s", json_string_value(json_object_get(document, "title")), req->params[0]);
    return page_serve(req, res, "test", title, json_incref(document));
}

static bool test(Request *req, Response *res, Error *err) {
    json_auto_t *document = doc_test(req, err);
    if (!document || !request_is_api(req))
        return document && test_page(req, res, document, err);
    return page_serve(req, res, "test", "", json_incref(document));
}

static bool history(Request *req, Response *res, Error *err) {
    return page_serve(req, res, "test", "", doc_history(req, err));
}

static bool faults(Request *req, Response *res, Error *err) {
    json_auto_t *document = doc_faults(req, err);
    char *title scope(free_ptr) = xasprintf("Faults in %s", text_of(document, "test", "title"));
    if (!request_is_api(req))
        page_name_faults(document);
    return serve_list(req, res, "faults", title, json_incref(document));
}

static bool fault(Request *req, Response *res, Error *err) {
    json_auto_t *document = doc_fault(req, err);
    char *title scope(free_ptr) = xasprintf("Fault %s", req->params[0]);
    if (document && !request_is_api(req)) {
        page_name_fault(json_object_get(document, "fault"));
        json_object_set_new(document, "board", page_board(member_text(document, "pgn")));
    }
    return page_serve(req, res, "fault", title, json_incref(document));
}

// ---- forms --------------------------------------------------------------------------------------

static bool form_data(Request *req, Response *res, Error *err) {
    return page_serve(req, res, "new", "", doc_form(req, false, err));
}

static bool new_test(Request *req, Response *res, Error *err) {
    return page_form(req, res, "new", NULL) || error_set(err, 404, "", "this server has no engine");
}

static bool login(Request *req, Response *res, Error *err) {
    (void)err;
    return page_form(req, res, "login", NULL);
}

static bool signup(Request *req, Response *res, Error *err) {
    (void)err;
    return page_form(req, res, "signup", NULL);
}

static bool account(Request *req, Response *res, Error *err) {
    (void)err;
    page_account(req, res, 200, NULL, NULL);
    return true;
}

static bool health(Request *req, Response *res, Error *err) {
    return page_serve(req, res, "health", "Health", doc_health(req, err));
}

static bool admin(Request *req, Response *res, Error *err) {
    return page_serve(req, res, "admin", "Users", doc_users(req, err));
}

#define PAGE(pattern, access, handler)                                                             \
    { "GET", pattern, access, 0, handler, NULL }

const Route routes_pages[] = {
    PAGE("/", ACCESS_ANYONE, home),
    PAGE("/api/v1/overview", ACCESS_ANYONE, home),
    PAGE("/tests/{id}", ACCESS_ANYONE, test),
    PAGE("/api/v1/tests/{id}", ACCESS_ANYONE, test),
    PAGE("/api/v1/tests/{id}/history", ACCESS_ANYONE, history),
    PAGE("/tests/{id}/faults", ACCESS_ANYONE, faults),
    PAGE("/api/v1/tests/{id}/faults", ACCESS_ANYONE, faults),
    PAGE("/faults/{id}", ACCESS_ANYONE, fault),
    PAGE("/api/v1/faults/{id}", ACCESS_ANYONE, fault),
    PAGE("/tests/finished", ACCESS_ANYONE, finished),
    PAGE("/api/v1/tests", ACCESS_ANYONE, tests),
    PAGE("/tests/new", ACCESS_ANYONE, new_test),
    PAGE("/api/v1/tests/form", ACCESS_ANYONE, form_data),
    PAGE("/events", ACCESS_ANYONE, events),
    PAGE("/api/v1/events", ACCESS_ANYONE, events),
    PAGE("/nets", ACCESS_ANYONE, nets),
    PAGE("/api/v1/nets", ACCESS_ANYONE, nets),
    PAGE("/machines", ACCESS_ANYONE, machines),
    PAGE("/api/v1/machines", ACCESS_ANYONE, machines),
    PAGE("/machines/{id}", ACCESS_ANYONE, machine),
    PAGE("/api/v1/machines/{id}", ACCESS_ANYONE, machine),
    PAGE("/users/{name}", ACCESS_ANYONE, user),
    PAGE("/api/v1/users/{name}", ACCESS_ANYONE, user),
    PAGE("/login", ACCESS_ANYONE, login),
    PAGE("/signup", ACCESS_ANYONE, signup),
    PAGE("/account", ACCESS_USER, account),
    PAGE("/health", ACCESS_ANYONE, health),
    PAGE("/admin", ACCESS_ADMIN, admin),
    {0},
};
