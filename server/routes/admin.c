// The routes for an admin: the list of accounts, their roles, and their states (pending, active,
// blocked).
#include <string.h>

#include "server/accounts/own_account.h"
#include "server/accounts/users.h"
#include "server/ledger/ledger.h"
#include "server/routes/respond.h"
#include "server/routes/users_handlers.h"
#include "sql/users.h"

bool user_list(Request *req, Response *res, Error *err) {
    (void)err;
    response_json(res, 200, json_pack("{s:o,s:n}", "items", sql_users_all(req->turn->db), "next"));
    return true;
}

static void note(Request *req, const char *name, const char *what) {
    ledger_event(req->turn, "user", req->viewer.user_id, 0, 0, "%s is now %s", name, what);
}

static bool done(Request *req, Response *res) {
    return respond(req, res, 200, json_object(),
                   next_path(request_form(req, "next", NULL), "/admin"));
}

static bool read_role(Request *req, const char **engine, const char **role, int *grant,
                      Error *err) {
    *engine = "";
    if (request_is_api(req))
        return request_json(req, err, "{s:s,s:b,s?s}", "role", role, "grant", grant, "engine",
                            engine);
    const char *wanted = request_form(req, "engine", NULL);
    const char *given = request_form(req, "grant", NULL);
    *engine = wanted ? wanted : "";
    *role = request_form(req, "role", NULL);
    *grant = given && !strcmp(given, "1");
    return *role || error_field(err, 422, "bad_request", "role", "name a role");
}

bool user_role(Request *req, Response *res, Error *err) {
    const char *engine, *role;
    int grant;
    int64_t user = user_find(req->turn->db, req->params[0], err);
    if (!user || !read_role(req, &engine, &role, &grant, err))
        return false;
    if (!own_role_check(&req->viewer, user, role, grant, err) ||
        !user_set_role(req->turn->db, user, engine, role, grant, err))
        return false;
    char *what scope(free_ptr) =
        xasprintf("%s%s%s%s", grant ? "" : "no longer ", role, *engine ? " of " : "", engine);
    note(req, req->params[0], what);
    return done(req, res);
}

bool user_state(Request *req, Response *res, Error *err) {
    const char *state;
    int64_t user = user_find(req->turn->db, req->params[0], err);
    if (!user)
        return false;
    if (request_is_api(req) ? !request_json(req, err, "{s:s}", "state", &state)
                            : !(state = request_form(req, "state", NULL)) &&
                                  !error_field(err, 422, "bad_request", "state", "name a state"))
        return false;
    if (!own_state_check(&req->viewer, user, err) ||
        !user_set_state(req->turn->db, user, state, err))
        return false;
    note(req, req->params[0], state);
    return done(req, res);
}
