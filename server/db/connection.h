// The connection's struct, for db.c, which defines the functions here, and query.c. No other file
// includes this.
#pragma once

#include <sqlite3.h>

#include <stdbool.h>

#include "server/common/error.h"
#include "sql_ids.h" // generated

typedef struct Db Db;

struct Db {
    sqlite3 *connection;
    bool reader, failed;
    sqlite3_stmt *statements[SQL_COUNT + 1]; // prepared when first used
    sqlite3_stmt *savepoint, *release;       // likewise
};

// Puts `db` into its failed state and logs why.
void db_fail(Db *db, const char *what);
bool db_unavailable(Error *err); // 503; returns false
