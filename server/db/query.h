// What the functions of queries are made of. Code that asks the database includes "sql/FILE.h",
// which the build makes of sql/FILE.sql (sql/functions.c), and calls its functions:
//
//     sql_test_stop(db, err, .test = 7, .reason = "…")    a write
//     sql_test_of_task(db, 0, task)                       a value; 0 if there is no row
//     sql_page_test(db, test)                             a document: columns are its members; new
//
//     SqlTestById row scope(sql_row_free) = {0};
//     if (!sql_test_by_id(db, &row, test)) …              the first row; false: there is none
//
//     SqlTestsOpenRows rows scope(sql_rows_end) = sql_tests_open(db, .engine = 1, .after = 0);
//     while (sql_tests_open_next(&rows)) … rows.row.id …
//
// Two parameters or more are given by name, each exactly once. A parameter that may be NULL is
// NULL (text), NaN (real), or a pointer (`int?`). A column that may be NULL is NULL (text), NaN
// (real), or has `has_NAME` beside it. The texts of a cursor's row are borrowed until the next
// step; those of a first row belong to the row, and sql_row_free() frees them.
//
// A query that fails because of the database (I/O, full disk, broken statement) puts `db` into a
// failed state. Then reading finds no rows, db_failed() is true, and the turn answers all its
// requests with 503. So a handler only checks for mistakes in its own data.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/common/error.h"
#include "server/db/db.h"
#include "sql_ids.h" // generated

typedef struct SqlBytes {
    const void *data; // NULL is NULL
    size_t size;
} SqlBytes;

void sql_row_free(void *row);  // for scope(): frees the texts of a first row
void sql_rows_end(void *rows); // for scope(): ends a cursor, wherever it is

// ---- for generated code alone -------------------------------------------------------------------

typedef struct SqlNamesOnly SqlNamesOnly; // no value has this type

typedef struct Query {
    Db *db;
    struct sqlite3_stmt *statement; // NULL: it has ended
    bool bad_text;                  // a text is not UTF-8
} Query;

// A statement without values. If it still runs, the calling code is wrong: `db` fails.
Query query_open(Db *db, SqlId id);
void query_set_int(Query *q, int at, int64_t value);
void query_set_int_or_null(Query *q, int at, const int64_t *value);
void query_set_real(Query *q, int at, double value);
void query_set_text(Query *q, int at, const char *value);
void query_set_bytes(Query *q, int at, SqlBytes value);
void query_set_bool(Query *q, int at, bool value);

// The next row. False: there is none, and the statement has ended.
bool query_step(Query *q);
void query_end(Query *q); // may be called again

// Columns of the present row. NULL in a column that cannot have it is logged, and `db` fails.
bool query_has(Query *q, int column);
int64_t query_get_int(Query *q, int column);
int64_t query_get_int_or_null(Query *q, int column); // 0 for NULL
double query_get_real(Query *q, int column);
double query_get_real_or_null(Query *q, int column); // NaN for NULL
const char *query_get_text(Query *q, int column);
const char *query_get_text_or_null(Query *q, int column);
SqlBytes query_get_bytes(Query *q, int column);
SqlBytes query_get_bytes_or_null(Query *q, int column);
bool query_get_bool(Query *q, int column);
bool query_get_bool_or_null(Query *q, int column); // false for NULL
// Copies the texts into one block at `owned`. `members` ends with NULL.
void query_own_texts(char **owned, const char **const members[]);

// These end the statement.
int64_t query_value_int(Query *q, int64_t fallback);
double query_value_real(Query *q, double fallback);
bool query_value_bool(Query *q);
char *query_value_text(Query *q); // malloc'ed; NULL: none
// `bools` has a letter for each column, b where 0 and 1 become false and true. A column whose name
// ends in `_json` is parsed, and its member loses the ending. Object: NULL if there is no row.
json_t *query_object(Query *q, const char *bools);
json_t *query_array(Query *q, const char *bools);
// False: a constraint refused it (409 `conflict`, message names the constraint), a text is not
// UTF-8 (422), or the database failed (503).
bool query_write(Query *q, Error *err);
