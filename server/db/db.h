// The database facade. All SQL is in sql/*.sql as named queries. The build makes an enum SqlId of
// the names (SQL_TEST_BY_ID for `-- name: test_by_id`). A connection prepares each statement once,
// and no statement runs beyond a turn of the loop. The keys of JSON rows are the columns. NULL is
// JSON null. A column whose name ends in `_json` is parsed, and its key loses the ending.
//
// A query of up to three parameters (?1, ?2, ?3) takes them in order, after a string of their
// types, one letter each: i int64_t, d double, s const char * (NULL is SQL NULL), b const void *
// and size_t. A query of more parameters has names for them (:received), and its function ends in
// _named. It takes one object that has exactly these parameters as members, usually made by
// json_pack. The object is stolen. NULL is refused: json_pack returns it for text that is not
// UTF-8.
//
// Columns that are read step by step have names as well: the build makes COL_QUERY_COLUMN of each
// column of each query (sql_columns.h).
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "server/common/error.h"
#include "sql_columns.h" // generated
#include "sql_ids.h"     // generated

typedef struct Db Db;

// A connection for one thread. A writer creates the schema in a new file, migrates an old one, and
// sets WAL, synchronous=FULL and foreign keys. A reader is read-only.
Db *db_open(const char *path, bool reader, Error *err);
void db_close(Db *db);

// Rows. A query that fails because of the database (I/O, full disk, broken statement) puts `db`
// into a failed state. Then the functions that read rows return none, db_failed() is true, and the
// turn answers all its requests with 503. So a handler only checks for mistakes in its own data.
json_t *db_row(Db *db, SqlId id, const char *types, ...);  // first row as object; NULL when none
json_t *db_rows(Db *db, SqlId id, const char *types, ...); // array of objects
int64_t db_int(Db *db, SqlId id, int64_t otherwise, const char *types, ...); // first column
double db_real(Db *db, SqlId id, double otherwise, const char *types, ...);
char *db_text(Db *db, SqlId id, const char *types, ...); // malloc'ed; NULL when none
json_t *db_row_named(Db *db, SqlId id, json_t *values);
json_t *db_rows_named(Db *db, SqlId id, json_t *values);
int64_t db_int_named(Db *db, SqlId id, int64_t otherwise, json_t *values);

// Writes. False: a constraint refused it (409 `conflict`, message names the constraint) or the
// database failed (503).
bool db_run(Db *db, Error *err, SqlId id, const char *types, ...);
bool db_write(Db *db, Error *err, SqlId id, json_t *values); // by name; 422 for NULL
// The same, with the parameter :blob bound to bytes; NULL is SQL NULL.
bool db_write_blob(Db *db, Error *err, SqlId id, json_t *values, const void *blob, size_t size);
int64_t db_last_id(Db *db);
int db_changes(Db *db);
bool db_failed(const Db *db);

// Step by step, for results that are too large for an array:
//   for (Query q = query(db, SQL_X, "i", id); query_step(&q);) query_int(&q, COL_X_SIZE) …
// The statement is reset when query_step() returns false. To leave the loop earlier, call
// query_end() first.
typedef struct Query {
    Db *db;
    struct sqlite3_stmt *statement;
    bool bad_text; // a text is not UTF-8
} Query;
Query query(Db *db, SqlId id, const char *types, ...);
Query query_named(Db *db, SqlId id, json_t *values);
bool query_step(Query *q);
void query_end(Query *q);
int64_t query_int(Query *q, int column);
double query_real(Query *q, int column);
const char *query_text(Query *q, int column); // borrowed until the next step; "" for NULL
// Bytes, borrowed until the next step; NULL for NULL.
const void *query_blob(Query *q, int column, size_t *size);
json_t *query_json(Query *q); // the row as an object, new

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
