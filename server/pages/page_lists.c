// Pages of lists: what they add to their documents for links, filters and gauges. See page.h.
#include <string.h>

#include "server/common/json_member.h"
#include "server/http/handler.h"
#include "server/pages/chart.h"
#include "server/pages/page.h"

void page_add_bars(json_t *tests) {
    json_t *test;
    size_t i;
    json_array_foreach (tests, i, test)
        json_object_set_new(test, "bar", chart_progress(json_object_get(test, "stats")));
}

// For an account that can submit nothing: the roles that it may ask for.
static void add_lacking(Request *req, json_t *document) {
    DocContext ctx = page_context(req);
    bool lacks = ctx.viewer->user_id && !viewer_submits(ctx.db, ctx.viewer, 0);
    json_object_set_new(document, "has_lacking", json_boolean(lacks));
    if (lacks)
        json_object_set_new(document, "lacking", doc_roles_lacking(&ctx));
}

bool page_home(Request *req, Response *res, json_t *document) {
    static const char *const lists[] = {"pending", "paused", "active", "finished"};
    const json_t *touched = json_object_get(json_object_get(document, "touched"), "items");
    if (!request_is_api(req)) {
        json_object_set_new(document, "has_touched", json_boolean(json_array_size(touched) > 0));
        add_lacking(req, document);
    }
    for (size_t i = 0; !request_is_api(req) && i < sizeof lists / sizeof *lists; i++)
        page_add_bars(json_object_get(json_object_get(document, lists[i]), "items"));
    return page_serve(req, res, "home", "Tests", document);
}

// The parameters of this page, for the address of the next one.
static void add_more_link(Request *req, json_t *document) {
    static const char *const kept[] = {"color", "ltc", "user", "text", "type", "online", "engine"};
    const char *next = json_string_value(json_object_get(document, "next"));
    if (!next)
        return;
    json_t *params = json_array();
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const char *value = request_query(req, kept[i]);
        if (value && *value)
            json_array_append_new(params, json_pack("{s:s, s:s}", "name", kept[i], "value", value));
    }
    json_object_set_new(document, "more", json_pack("{s:s, s:o}", "before", next, "kept", params));
}

// The selected choice of each filter: {"color": {"red": true}, …}.
static void add_chosen(json_t *document) {
    json_t *filter = json_object_get(document, "filter"), *chosen = json_object(), *value;
    const char *name;
    json_object_foreach (filter, name, value)
        if (json_is_string(value) && json_string_length(value))
            json_object_set_new(chosen, name, json_pack("{s:b}", json_string_value(value), 1));
    json_object_set_new(document, "chosen", chosen);
}

bool page_list(Request *req, Response *res, const char *template, const char *title,
               json_t *document) {
    if (document && !request_is_api(req)) {
        add_more_link(req, document);
        add_chosen(document);
    }
    return page_serve(req, res, template, title, document);
}

// The choices of the filter of events.
static json_t *event_types(const char *selected) {
    static const char *const names[] = {
        "submitted", "approved",  "withdrawn", "started",  "verdict",   "stopped",    "harmful",
        "paused",    "resumed",   "modified",  "merged",   "failed",    "expired",    "crash",
        "user",      "engine",    "excluded",  "blocked",  "unblocked", "replay",     "net",
        "disk",      "bench",     "wrapped",   "book",     "misfit",    "readmitted", "reached",
        "vouched",   "unvouched", "faults",    "rerun",    "reopened",  "retest",     "dropped",
        "widened",   "rebased",   "queued",    "unmerged", "undone"};
    json_t *types = json_array();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_array_append_new(types, json_pack("{s:s, s:b}", "name", names[i], "selected",
                                               strcmp(names[i], selected) == 0));
    return types;
}

bool page_events(Request *req, Response *res, json_t *document) {
    if (document && !request_is_api(req)) {
        const char *selected = member_text(json_object_get(document, "filter"), "type");
        json_object_set_new(document, "types", event_types(selected));
    }
    return page_list(req, res, "events", "Events", document);
}

bool page_user(Request *req, Response *res, json_t *document) {
    if (!document)
        return false;
    if (!request_is_api(req))
        page_add_bars(json_object_get(document, "tests"));
    const char *name = member_text(json_object_get(document, "user"), "name");
    return page_serve(req, res, "user", name, document);
}
