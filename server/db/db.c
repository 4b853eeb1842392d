// The database facade over SQLite, see db.h: connections and transactions. The queries are in
// sql/*.sql. The only statements written here are PRAGMAs and transaction control.
#include "server/db/db.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/log.h"
#include "server/common/str.h"
#include "server/db/connection.h"
#include "server/db/schema.h"

void db_fail(Db *db, const char *what) {
    log_error("database: %s: %s", what, sqlite3_errmsg(db->connection));
    db->failed = true;
}

bool db_unavailable(Error *err) {
    return error_set(err, 503, "unavailable",
                     "the database cannot be used at the moment; try again");
}

bool db_failed(const Db *db) {
    return db->failed;
}

static bool db_exec(Db *db, const char *sql) {
    if (sqlite3_exec(db->connection, sql, NULL, NULL, NULL) == SQLITE_OK)
        return true;
    db_fail(db, sql);
    return false;
}

// For what each request runs.
static void db_exec_kept(Db *db, sqlite3_stmt **kept, const char *sql) {
    if (db->failed)
        return;
    if (!*kept)
        sqlite3_prepare_v3(db->connection, sql, -1, SQLITE_PREPARE_PERSISTENT, kept, NULL);
    if (!*kept || sqlite3_step(*kept) != SQLITE_DONE)
        db_fail(db, sql);
    sqlite3_reset(*kept);
}

// ---- connections --------------------------------------------------------------------------------

// temp_store: a request's savepoint keeps the old form of each page that changes, 12 to 20 for a
// batch. Above 64 KiB SQLite writes them to a file, unless temporary data belongs in memory.
static bool db_set_up(Db *db, Error *err) {
    sqlite3_busy_timeout(db->connection, 10000);
    const char *pragmas = db->reader ? "PRAGMA query_only = 1; PRAGMA foreign_keys = 1;"
                                     : "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                                       "PRAGMA foreign_keys = 1; PRAGMA cache_size = -65536;"
                                       "PRAGMA journal_size_limit = 67108864;"
                                       "PRAGMA temp_store = MEMORY;";
    if (!db_exec(db, pragmas))
        return error_set(err, 500, "database", "cannot use the database: %s",
                         sqlite3_errmsg(db->connection));
    return db_schema_ready(db->connection, db->reader, err);
}

Db *db_open(const char *path, bool reader, Error *err) {
    Db *db = xcalloc(1, sizeof *db);
    db->reader = reader;
    int flags = reader ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(path, &db->connection, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        error_set(err, 500, "database", "cannot open %s: %s", path, sqlite3_errmsg(db->connection));
    else if (db_set_up(db, err))
        return db;
    db_close(db);
    return NULL;
}

void db_close(Db *db) {
    if (!db)
        return;
    for (int i = 0; i < SQL_COUNT; i++)
        sqlite3_finalize(db->statements[i]);
    sqlite3_finalize(db->savepoint);
    sqlite3_finalize(db->release);
    sqlite3_close(db->connection);
    free(db);
}

// ---- transactions -------------------------------------------------------------------------------

// A handler may stop a query before its last row. Such a query must end with the turn.
static void reset_running(Db *db) {
    for (int i = 0; i < SQL_COUNT; i++)
        if (db->statements[i] && sqlite3_stmt_busy(db->statements[i]))
            sqlite3_reset(db->statements[i]);
}

bool db_begin(Db *db, Error *err) {
    db->failed = false;
    return db_exec(db, db->reader ? "BEGIN" : "BEGIN IMMEDIATE") || db_unavailable(err);
}

bool db_commit(Db *db, Error *err) {
    reset_running(db);
    if (!db->failed && db_exec(db, "COMMIT"))
        return true;
    db_rollback(db);
    return db_unavailable(err);
}

// After some failures (a full disk) SQLite has already rolled back. Then there is nothing to do.
void db_rollback(Db *db) {
    reset_running(db);
    if (!sqlite3_get_autocommit(db->connection))
        db_exec(db, "ROLLBACK");
    db->failed = false;
}

void db_savepoint(Db *db) {
    db_exec_kept(db, &db->savepoint, "SAVEPOINT request");
}

void db_savepoint_keep(Db *db) {
    db_exec_kept(db, &db->release, "RELEASE request");
}

void db_savepoint_undo(Db *db) {
    reset_running(db);
    if (!db->failed)
        db_exec(db, "ROLLBACK TO request; RELEASE request");
}

bool db_backup(Db *db, const char *path, Error *err) {
    return db_schema_copy(db->connection, path, err);
}
