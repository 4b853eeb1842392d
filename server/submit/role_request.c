// See role_request.h.
#include "server/submit/role_request.h"

#include <math.h>

#include "server/common/one_line.h"
#include "server/ledger/ledger.h"
#include "server/submit/rights.h"
#include "server/submit/submit.h"
#include "sql/users.h"

enum { DAY_S = 86400 };

static bool may_ask(const Caller *caller, const SqlEngineById *engine, Error *err) {
    Db *db = caller->turn->db;
    int64_t user = caller->viewer->user_id;
    SqlRoleRequestOf old = {0};
    if (caller->viewer->admin || sql_role_develops(db, .user = user, .engine = engine->id))
        return error_set(err, 409, "has_role", "you have a role of %s already", engine->name);
    if (!sql_role_request_of(db, &old, .user = user, .engine = engine->id))
        return true;
    if (isnan(old.declined))
        return error_set(err, 409, "asked_already",
                         "you have asked for the role developer of %s already; its maintainers "
                         "have not answered yet",
                         engine->name);
    return caller->turn->now - old.declined >= ROLE_REQUEST_AGAIN_DAYS * DAY_S ||
           error_set(err, 409, "asked_already",
                     "your request for the role developer of %s was declined; you may ask again "
                     "%d days after that",
                     engine->name, ROLE_REQUEST_AGAIN_DAYS);
}

bool role_request_ask(const Caller *caller, const char *engine_name, const char *text, Error *err) {
    SqlEngineById engine scope(sql_row_free) = {0};
    if (!submit_engine(caller->turn->db, engine_name, &engine, err) ||
        !may_ask(caller, &engine, err) ||
        !one_line_check("text", text, 1, ROLE_REQUEST_TEXT_MAX, err) ||
        !sql_role_request_add(caller->turn->db, err, .user = caller->viewer->user_id,
                              .engine = engine.id, .text = text, .now = caller->turn->now))
        return false;
    ledger_event(caller->turn, "user", caller->viewer->user_id, 0, 0,
                 "asks for the role developer of %s", engine.name);
    return true;
}

static bool give_role(const Caller *caller, int64_t request, const SqlRoleRequestOpen *row,
                      Error *err) {
    Db *db = caller->turn->db;
    return sql_role_add(db, err, .user = row->user_id, .engine = row->engine_id,
                        .role = "developer") &&
           sql_role_request_remove(db, err, request);
}

json_t *role_request_answer(const Caller *caller, int64_t request, bool give, Error *err) {
    Db *db = caller->turn->db;
    SqlRoleRequestOpen row scope(sql_row_free) = {0};
    if (!sql_role_request_open(db, &row, request)) {
        error_set(err, 404, "no_such_request", "there is no open request %lld", (long long)request);
        return NULL;
    }
    if (!right_to_give_roles(caller, row.engine_id, row.engine, err) ||
        !(give ? give_role(caller, request, &row, err)
               : sql_role_request_decline(db, err, .now = caller->turn->now, .request = request)))
        return NULL;
    ledger_event(caller->turn, "user", caller->viewer->user_id, 0, 0,
                 give ? "%s is now developer of %s" : "%s does not become developer of %s",
                 row.user, row.engine);
    return json_pack("{s:s, s:s, s:b}", "user", row.user, "engine", row.engine, "given", (int)give);
}
