// See viewer.h.
#include "server/accounts/viewer.h"

#include <string.h>

#include "server/common/str.h"

bool viewer_has_role(Db *db, const Viewer *viewer, int64_t engine_id, const char *role) {
    if (!viewer->user_id)
        return false;
    if (viewer->admin)
        return true;
    if (strcmp(role, "developer") == 0)
        return db_int(db, SQL_ROLE_DEVELOPS, 0, "ii", viewer->user_id, engine_id) == 1;
    return strcmp(viewer->scope, "submit") != 0 &&
           db_int(db, SQL_ROLE_HAS, 0, "iis", viewer->user_id, engine_id, role) == 1;
}

// The operator's setting `submit`: "open" lets every user submit.
static bool is_open(Db *db) {
    char *who scope(free_ptr) = db_text(db, SQL_SETTING_GET, "s", "submit");
    return who && strcmp(who, "open") == 0;
}

bool viewer_submits(Db *db, const Viewer *viewer, int64_t engine_id) {
    return viewer_has_role(db, viewer, engine_id, "developer") || (viewer->user_id && is_open(db));
}
