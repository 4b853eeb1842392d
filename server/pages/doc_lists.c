// Documents that are not about one test: events, machines, nets, users, the viewer's own account.
#include <string.h>

#include "server/accounts/machine.h"
#include "server/common/json_member.h"
#include "server/ledger/suspects.h"
#include "server/pages/doc.h"
#include "server/pages/doc_actions.h"
#include "server/pages/doc_misfits.h"
#include "server/pages/doc_trust.h"
#include "server/submit/quota.h"
#include "sql/nets.h"
#include "sql/pages.h"
#include "sql/users.h"

// The cursor of the page after `items`; null if this was the last.
static json_t *next_of(const json_t *items, int limit, const char *time) {
    size_t size = json_array_size(items);
    if ((int)size < limit)
        return json_null();
    const json_t *last = json_array_get(items, size - 1);
    return doc_cursor(member_real(last, time), member_int(last, "id"));
}

// ---- events -------------------------------------------------------------------------------------

json_t *doc_events(const DocContext *ctx, Error *err) {
    double time;
    int64_t id;
    int limit = doc_limit(ctx);
    if (!doc_cursor_read(ctx, &time, &id, err))
        return NULL;
    json_t *items = sql_page_events(ctx->db, .before = id, .type = doc_query(ctx, "type"),
                                    .user_name = doc_query(ctx, "user"),
                                    .text = doc_query(ctx, "text"), .limit = limit);
    return json_pack("{s:o, s:o, s:{s:s, s:s, s:s}}", "items", items, "next",
                     next_of(items, limit, "created"), "filter", "type", doc_query(ctx, "type"),
                     "user", doc_query(ctx, "user"), "text", doc_query(ctx, "text"));
}

// ---- machines -----------------------------------------------------------------------------------

json_t *doc_machines(const DocContext *ctx, Error *err) {
    double time;
    int64_t id;
    int limit = doc_limit(ctx);
    bool online = *doc_query(ctx, "online") == '1';
    if (!doc_cursor_read(ctx, &time, &id, err))
        return NULL;
    json_t *items = sql_page_machines(ctx->db, .before = time, .before_id = id, .online = online,
                                      .now = ctx->now, .online_s = ONLINE_S, .limit = limit);
    return json_pack("{s:o, s:o, s:{s:b}}", "items", items, "next",
                     next_of(items, limit, "last_seen"), "filter", "online", online);
}

json_t *doc_machine(const DocContext *ctx, int64_t id, Error *err) {
    json_t *machine =
        sql_page_machine(ctx->db, .worker = id, .now = ctx->now, .online_s = ONLINE_S);
    if (!machine)
        return doc_missing(err, "machine", id);
    json_t *trust = doc_trust_of_machine(ctx, id);
    bool vouched = json_is_object(json_object_get(trust, "vouch"));
    json_object_set_new(machine, "trust", trust);
    json_auto_t *suspects = suspects_list(ctx->db, ctx->now, id);
    json_t *suspected = json_array_get(suspects, 0);
    json_object_set_new(machine, "suspected", suspected ? json_incref(suspected) : json_null());
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "machine", machine, "misfits",
        doc_misfits_of_machine(ctx, id), "tasks", sql_page_tasks_of_machine(ctx->db, id),
        "failures", sql_page_failures_of_machine(ctx->db, id), "flagged",
        sql_page_flagged_of_machine(ctx->db, id), "faults", sql_page_faults_of_machine(ctx->db, id),
        "actions", doc_machine_actions(ctx, machine, vouched));
}

// ---- nets ---------------------------------------------------------------------------------------

static void add_tests(const DocContext *ctx, json_t *net) {
    json_t *test, *tests = sql_page_tests_of_net(ctx->db, .engine = member_int(net, "engine_id"),
                                                 .sha256 = member_text(net, "sha256"));
    size_t i;
    int64_t total = member_int(json_array_get(tests, 0), "total");
    json_array_foreach (tests, i, test)
        json_object_del(test, "total");
    json_object_set_new(net, "tests", tests);
    json_object_set_new(net, "tests_total", json_integer(total));
    json_object_del(net, "engine_id");
}

// The engines that have nets. `may_upload` says whether the viewer may upload one.
static json_t *net_engines(const DocContext *ctx, bool *may_upload) {
    json_t *engine, *engines = sql_page_net_engines(ctx->db);
    size_t i;
    *may_upload = false;
    json_array_foreach (engines, i, engine) {
        bool may =
            ctx->viewer->user_id && viewer_submits(ctx->db, ctx->viewer, member_int(engine, "id"));
        json_object_set_new(engine, "may_upload", json_boolean(may));
        *may_upload |= may;
    }
    return engines;
}

json_t *doc_nets(const DocContext *ctx, Error *err) {
    double time;
    int64_t id;
    size_t i;
    bool may_upload;
    int limit = doc_limit(ctx);
    if (!doc_cursor_read(ctx, &time, &id, err))
        return NULL;
    json_t *net, *items = sql_page_nets(ctx->db, .before = id, .engine = doc_query(ctx, "engine"),
                                        .sha256 = doc_query(ctx, "sha256"), .limit = limit);
    json_array_foreach (items, i, net)
        add_tests(ctx, net);
    json_t *engines = net_engines(ctx, &may_upload);
    return json_pack("{s:o, s:o, s:{s:s}, s:o, s:b}", "items", items, "next",
                     next_of(items, limit, "created"), "filter", "engine", doc_query(ctx, "engine"),
                     "engines", engines, "may_upload", (int)may_upload);
}

// ---- users --------------------------------------------------------------------------------------

json_t *doc_user(const DocContext *ctx, const char *name, Error *err) {
    json_auto_t *user = sql_page_user(ctx->db, name);
    if (!user) {
        error_set(err, 404, "no_such_user", "there is no user %.40s", name);
        return NULL;
    }
    int64_t id = member_int(user, "id");
    json_auto_t *rows =
        sql_page_tests_of_author(ctx->db, .user = id, .before = INT64_MAX, .limit = DOC_PAGE_SIZE);
    json_t *tests = json_array(), *row;
    size_t i;
    json_array_foreach (rows, i, row)
        json_array_append_new(tests, doc_test_summary(ctx, row));
    json_object_set_new(user, "roles", sql_roles_of_user(ctx->db, id));
    json_t *machines = sql_page_machines_of_user(ctx->db, .user = id, .now = ctx->now,
                                                 .online_s = ONLINE_S, .limit = DOC_PAGE_SIZE_MAX);
    return json_pack("{s:O, s:o, s:o, s:{s:o}}", "user", user, "misfits",
                     doc_misfits_of_user(ctx, id), "tests", tests, "machines", "items", machines);
}

json_t *doc_account(const DocContext *ctx) {
    int64_t id = ctx->viewer->user_id;
    json_t *user = sql_user_by_id(ctx->db, id);
    json_object_set_new(user, "roles", sql_roles_of_user(ctx->db, id));
    return json_pack("{s:o, s:o, s:o, s:s}", "user", user, "tokens",
                     sql_tokens_of_user(ctx->db, id), "submitted", quota_of(ctx->db, id, ctx->now),
                     "changed", doc_query(ctx, "changed"));
}

json_t *doc_users(const DocContext *ctx) {
    json_t *user, *users = sql_users_all(ctx->db);
    size_t i;
    // The query leaves 0 and 1, which `GET /api/v1/users` returns.
    json_array_foreach (users, i, user)
        json_object_set_new(user, "admin", json_boolean(member_int(user, "admin")));
    return json_pack("{s:o, s:o, s:n}", "items", users, "engines", sql_page_engines(ctx->db),
                     "next");
}
