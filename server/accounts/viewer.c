// See viewer.h.
#include "server/accounts/viewer.h"

#include <string.h>

#include "server/db/settings.h"
#include "sql/users.h"

bool viewer_has_role(Db *db, const Viewer *viewer, int64_t engine_id, const char *role) {
    if (!viewer->user_id)
        return false;
    if (viewer->admin)
        return true;
    if (strcmp(role, "developer") == 0)
        return sql_role_develops(db, .user = viewer->user_id, .engine = engine_id);
    return strcmp(viewer->scope, "submit") != 0 &&
           sql_role_has(db, .user = viewer->user_id, .engine = engine_id, .role = role);
}

// The operator's setting `submit` lets every user submit.
bool viewer_submits(Db *db, const Viewer *viewer, int64_t engine_id) {
    return viewer_has_role(db, viewer, engine_id, "developer") ||
           (viewer->user_id && setting_is(db, SETTING_SUBMIT, "open"));
}

bool machine_may_work(const char *barred, Error *err) {
    if (!strcmp(barred, "token"))
        return error_set(err, 403, "token_revoked",
                         "the token that this machine was registered with was revoked; start the "
                         "worker with a new one");
    if (!strcmp(barred, "owner"))
        return error_set(err, 403, "blocked", "the account of this machine is not active");
    return !*barred || error_set(err, 403, "blocked", "this machine is blocked; ask the operator");
}
