// The routes for an admin: the list of accounts, their roles, and their states (pending, active,
// blocked).
#include <string.h>

#include "server/accounts/own_account.h"
#include "server/accounts/users.h"
#include "server/ledger/ledger.h"
#include "server/routes/respond.h"
#include "server/routes/routes.h"
#include "sql/users.h"

enum { BODY_MAX = 4096 };

static bool user_list(Request *req, Response *res, Error *err) {
    (void)err;
    response_json(res, 200, json_pack("{s:o,s:n}", "items", sql_users_all(req->turn->db), "next"));
    return true;
}

// Logs the change of the user in the address, and answers. `what`: "blocked", "no longer admin".
static bool done(Request *req, Response *res, const char *what) {
    ledger_event(req->turn, "user", req->viewer.user_id, 0, 0, "%s is now %s", req->params[0],
                 what);
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
    return *role || error_field(err, 422, "bad_request", "role", "a role is required");
}

static bool user_role(Request *req, Response *res, Error *err) {
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
    return done(req, res, what);
}

static bool user_state(Request *req, Response *res, Error *err) {
    const char *state;
    int64_t user = user_find(req->turn->db, req->params[0], err);
    if (!user)
        return false;
    if (request_is_api(req)
            ? !request_json(req, err, "{s:s}", "state", &state)
            : !(state = request_form(req, "state", NULL)) &&
                  !error_field(err, 422, "bad_request", "state", "a state is required"))
        return false;
    if (!own_state_check(&req->viewer, user, err) ||
        !user_set_state(req->turn->db, user, state, err))
        return false;
    return done(req, res, state);
}

const Route routes_admin[] = {
    {"GET", "/api/v1/users", ACCESS_ADMIN, 0, user_list, NULL},
    {"POST", "/admin/users/{name}/role", ACCESS_ADMIN, BODY_MAX, NULL, user_role},
    {"POST", "/api/v1/users/{name}/role", ACCESS_ADMIN, BODY_MAX, NULL, user_role},
    {"POST", "/admin/users/{name}/state", ACCESS_ADMIN, BODY_MAX, NULL, user_state},
    {"POST", "/api/v1/users/{name}/state", ACCESS_ADMIN, BODY_MAX, NULL, user_state},
    {0},
};
