// The database: connections and transactions. All SQL stands in sql/*.sql as named queries. The
// build makes a function of each (query.h): code that asks includes "sql/FILE.h". A connection
// prepares each statement once, and no statement runs beyond a turn of the loop.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/common/error.h"

typedef struct Db Db;

// A connection for one thread. A writer creates the schema in a new file, migrates an old one, and
// sets WAL, synchronous=FULL and foreign keys. A reader is read-only.
Db *db_open(const char *path, bool reader, Error *err);
void db_close(Db *db);
// A query has failed because of the database (I/O, full disk, a mistake in our own code). Then
// reads find no rows, and nothing is committed any more.
bool db_failed(const Db *db);

int64_t db_last_id(Db *db); // of the row that was inserted last
int db_changes(Db *db);     // rows that the last write changed

// Transactions: one for each turn, and a savepoint for each request. If db_commit() returns false,
// nothing of the turn has happened.
bool db_begin(Db *db, Error *err);
bool db_commit(Db *db, Error *err);
void db_rollback(Db *db);
void db_savepoint(Db *db);
void db_savepoint_keep(Db *db);
void db_savepoint_undo(Db *db);

// Online copy of a running database to a new file.
bool db_backup(Db *db, const char *path, Error *err);
