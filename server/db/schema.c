// See schema.h. The schema's version is PRAGMA user_version: the number of scripts that have run.
#include "server/db/schema.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/common/str.h"
#include "sql_text.h" // generated

const char *db_query_name(SqlId id) {
    return sql_queries[id].name;
}

const char *db_query_text(SqlId id) {
    return sql_queries[id].text;
}

static int version_of(sqlite3 *connection) {
    sqlite3_stmt *statement;
    int version = -1;
    if (sqlite3_prepare_v2(connection, "PRAGMA user_version", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        version = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return version;
}

static bool migrate(sqlite3 *connection, const char *script, int from, Error *err) {
    char *sql scope(free_ptr) =
        xasprintf("BEGIN IMMEDIATE; %s; PRAGMA user_version = %d; COMMIT", script, from + 1);
    if (sqlite3_exec(connection, sql, NULL, NULL, NULL) == SQLITE_OK)
        return true;
    error_set(err, 500, "database", "cannot bring the database to version %d: %s", from + 1,
              sqlite3_errmsg(connection));
    sqlite3_exec(connection, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

bool db_schema_bring(sqlite3 *connection, const char *const steps[], int latest, bool reader,
                     Error *err) {
    int version = version_of(connection);
    if (version < 0)
        return error_set(err, 500, "database", "the database cannot be read: %s",
                         sqlite3_errmsg(connection));
    if (version > latest)
        return error_set(err, 500, "database",
                         "the database has version %d, made by a newer server; this one knows %d",
                         version, latest);
    if (reader && version < latest)
        return error_set(err, 500, "database",
                         "the database has version %d, not %d: run the server", version, latest);
    for (; version < latest; version++)
        if (!migrate(connection, steps[version], version, err))
            return false;
    return true;
}

bool db_schema_ready(sqlite3 *connection, bool reader, Error *err) {
    enum { LATEST = sizeof sql_scripts / sizeof *sql_scripts };
    return db_schema_bring(connection, sql_scripts, LATEST, reader, err);
}

// The copy is one read transaction. Writers of a WAL database continue meanwhile. The copy has the
// state at the time at which it began.
static bool copy_pages(sqlite3 *from, sqlite3 *to) {
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    if (!backup)
        return false;
    int rc = sqlite3_backup_step(backup, -1);
    return sqlite3_backup_finish(backup) == SQLITE_OK && rc == SQLITE_DONE;
}

static bool file_sync(const char *path) {
    int fd scope(close_fd) = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && fsync(fd) == 0;
}

bool db_schema_copy(sqlite3 *connection, const char *path, Error *err) {
    if (access(path, F_OK) == 0)
        return error_set(err, 409, "exists", "%s exists already", path);
    sqlite3 *to = NULL;
    bool good = sqlite3_open(path, &to) == SQLITE_OK && copy_pages(connection, to);
    if (!good)
        error_set(err, 500, "database", "cannot copy the database to %s: %s", path,
                  sqlite3_errmsg(to));
    sqlite3_close(to);
    if (good && !file_sync(path))
        good = error_errno(err, "cannot sync %s", path);
    return good;
}
