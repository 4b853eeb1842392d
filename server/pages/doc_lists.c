// Documents of what is not a test: events, machines, nets, users, the viewer's own account.
#include <string.h>

#include "server/common/json_member.h"
#include "server/pages/doc.h"
#include "server/pages/doc_actions.h"

// The cursor of the page after `items`; null where this was the last.
static json_t *next_of(const json_t *items, int limit, const char *time) {
    size_t size = json_array_size(items);
    if ((int)size < limit)
        return json_null();
    const json_t *last = json_array_get(items, size - 1);
    return doc_cursor(member_real(last, time), member_int(last, "id"));
}

// ---- events -------------------------------------------------------------------------------------

json_t *doc_events(Request *req, Error *err) {
    double time;
    int64_t id;
    int limit = doc_limit(req);
    if (!doc_cursor_read(req, &time, &id, err))
        return NULL;
    json_t *items =
        db_rows_named(req->turn->db, SQL_PAGE_EVENTS,
                      json_pack("{s:I, s:s, s:s, s:s, s:i}", "before", (json_int_t)id, "type",
                                doc_query(req, "type"), "user", doc_query(req, "user"), "text",
                                doc_query(req, "text"), "limit", limit));
    return json_pack("{s:o, s:o, s:{s:s, s:s, s:s}}", "items", items, "next",
                     next_of(items, limit, "created"), "filter", "type", doc_query(req, "type"),
                     "user", doc_query(req, "user"), "text", doc_query(req, "text"));
}

// ---- machines -----------------------------------------------------------------------------------

json_t *doc_machines(Request *req, Error *err) {
    double time;
    int64_t id;
    int limit = doc_limit(req);
    bool online = *doc_query(req, "online") == '1';
    if (!doc_cursor_read(req, &time, &id, err))
        return NULL;
    json_t *items = db_rows(req->turn->db, SQL_PAGE_MACHINES, "diddi", time, id,
                            online ? req->turn->now - 300 : 0.0, req->turn->now, (int64_t)limit);
    doc_booleans(items, "online blocked");
    return json_pack("{s:o, s:o, s:{s:b}}", "items", items, "next",
                     next_of(items, limit, "last_seen"), "filter", "online", online);
}

json_t *doc_machine(Request *req, Error *err) {
    int64_t id = request_id(req, 0);
    json_t *machine = db_row(req->turn->db, SQL_PAGE_MACHINE, "id", id, req->turn->now);
    if (!machine)
        return error_set(err, 404, "no_such_machine", "there is no machine %s", req->params[0]),
               NULL;
    doc_booleans(machine, "online blocked");
    json_t *faults = db_rows(req->turn->db, SQL_PAGE_FAULTS_OF_MACHINE, "i", id);
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "machine", machine, "tasks",
        db_rows(req->turn->db, SQL_PAGE_TASKS_OF_MACHINE, "i", id), "failures",
        db_rows(req->turn->db, SQL_PAGE_FAILURES_OF_MACHINE, "i", id), "flagged",
        db_rows(req->turn->db, SQL_PAGE_FLAGGED_OF_MACHINE, "i", id), "replay_mismatches",
        db_rows(req->turn->db, SQL_PAGE_REPLAY_FAULTS_OF_MACHINE, "i", id), "faults",
        doc_booleans(faults, "overloaded"), "actions", doc_machine_actions(req, machine));
}

// ---- nets ---------------------------------------------------------------------------------------

static void add_tests(Request *req, json_t *net) {
    json_t *test, *tests = db_rows(req->turn->db, SQL_PAGE_TESTS_OF_NET, "is",
                                   member_int(net, "engine_id"), member_text(net, "sha256"));
    size_t i;
    int64_t total = member_int(json_array_get(tests, 0), "total");
    json_array_foreach (tests, i, test)
        json_object_del(test, "total");
    json_object_set_new(net, "tests", tests);
    json_object_set_new(net, "tests_total", json_integer(total));
    json_object_del(net, "engine_id");
}

// Engines that have nets, each with whether who asks may bring one.
static json_t *net_engines(Request *req, bool *may_upload) {
    json_t *engine, *engines = db_rows(req->turn->db, SQL_PAGE_NET_ENGINES, "");
    size_t i;
    *may_upload = false;
    json_array_foreach (engines, i, engine) {
        bool may = req->viewer.user_id &&
                   viewer_submits(req->turn->db, &req->viewer, member_int(engine, "id"));
        json_object_set_new(engine, "may_upload", json_boolean(may));
        *may_upload |= may;
    }
    return engines;
}

json_t *doc_nets(Request *req, Error *err) {
    double time;
    int64_t id;
    size_t i;
    bool may_upload;
    int limit = doc_limit(req);
    if (!doc_cursor_read(req, &time, &id, err))
        return NULL;
    json_t *net,
        *items = db_rows(req->turn->db, SQL_PAGE_NETS, "issi", id, doc_query(req, "engine"),
                         doc_query(req, "sha256"), (int64_t)limit);
    json_array_foreach (items, i, net)
        add_tests(req, net);
    json_t *engines = net_engines(req, &may_upload);
    return json_pack("{s:o, s:o, s:{s:s}, s:o, s:b}", "items", items, "next",
                     next_of(items, limit, "created"), "filter", "engine", doc_query(req, "engine"),
                     "engines", engines, "may_upload", (int)may_upload);
}

// ---- users --------------------------------------------------------------------------------------

json_t *doc_user(Request *req, Error *err) {
    json_auto_t *user = db_row(req->turn->db, SQL_PAGE_USER, "s", req->params[0]);
    if (!user)
        return error_set(err, 404, "no_such_user", "there is no user %.40s", req->params[0]), NULL;
    int64_t id = member_int(user, "id");
    json_auto_t *rows = db_rows(req->turn->db, SQL_PAGE_TESTS_OF_AUTHOR, "iii", id, INT64_MAX,
                                (int64_t)DOC_PAGE_SIZE);
    json_t *tests = json_array(), *row;
    size_t i;
    json_array_foreach (rows, i, row)
        json_array_append_new(tests, doc_test_summary(req, row));
    json_object_set_new(user, "roles", db_rows(req->turn->db, SQL_ROLES_OF_USER, "i", id));
    doc_booleans(user, "admin");
    json_t *machines = db_rows(req->turn->db, SQL_PAGE_MACHINES_OF_USER, "idi", id, req->turn->now,
                               (int64_t)DOC_PAGE_SIZE_MAX);
    return json_pack("{s:O, s:o, s:{s:o}}", "user", user, "tests", tests, "machines", "items",
                     doc_booleans(machines, "online blocked"));
}

json_t *doc_account(Request *req, Error *err) {
    int64_t id = req->viewer.user_id;
    json_t *user = json_object();
    json_auto_t *row = db_row(req->turn->db, SQL_USER_BY_ID, "i", id);
    (void)err;
    doc_copy(user, row, "id name email state admin created");
    doc_booleans(user, "admin");
    json_object_set_new(user, "roles", db_rows(req->turn->db, SQL_ROLES_OF_USER, "i", id));
    return json_pack("{s:o, s:o, s:s}", "user", user, "tokens",
                     db_rows(req->turn->db, SQL_TOKENS_OF_USER, "i", id), "changed",
                     doc_query(req, "changed"));
}

json_t *doc_users(Request *req, Error *err) {
    (void)err;
    return json_pack("{s:o, s:o, s:n}", "items",
                     doc_booleans(db_rows(req->turn->db, SQL_USERS_ALL, ""), "admin"), "engines",
                     db_rows(req->turn->db, SQL_PAGE_ENGINES, ""), "next");
}
