// See connection.h.
#include "server/db/connection.h"

#include "server/common/log.h"

void db_fail(Db *db, const char *what) {
    log_error("database: %s: %s", what, sqlite3_errmsg(db->connection));
    db->failed = true;
}

bool db_unavailable(Error *err) {
    return error_set(err, 503, "unavailable",
                     "the database cannot be used at the moment; try again");
}
