// The generated SQL for db.c: the text of each named query, the schema and its migrations. Also the
// copy of a whole database. No other file includes this.
#pragma once

#include <sqlite3.h>

#include "server/common/error.h"
#include "sql_ids.h" // generated

const char *db_query_name(SqlId id);
const char *db_query_text(SqlId id);
// Creates the schema in a new database, and migrates an old one, each version in one transaction. A
// reader only checks. Refuses a database that a newer server has made.
bool db_schema_ready(sqlite3 *connection, bool reader, Error *err);
// The same with other scripts: the first n of `steps` make version n, and `latest` is the number of
// steps. For tests of a migration.
bool db_schema_bring(sqlite3 *connection, const char *const steps[], int latest, bool reader,
                     Error *err);
// Online copy to a new file at `path`.
bool db_schema_copy(sqlite3 *connection, const char *path, Error *err);
