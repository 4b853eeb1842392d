// The statements of the generated functions. See query.h.
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/common/log.h"
#include "server/common/str.h"
#include "server/common/utf8.h"
#include "server/db/connection.h"
#include "server/db/query.h"
#include "server/db/schema.h"

void sql_row_free(void *row) {
    char **owned = row;
    free(*owned);
    *owned = NULL;
}

void sql_rows_end(void *rows) {
    query_end(rows);
}

// ---- parameters ---------------------------------------------------------------------------------

static void fail(Query *q, const char *why) {
    const char *text = q->statement ? sqlite3_sql(q->statement) : "";
    log_error("database: %s: %s", why, text);
    q->db->failed = true;
}

// A statement that still runs is a loop that did not end it, or that uses it inside itself. It must
// not read the rows of the other query.
Query query_open(Db *db, SqlId id) {
    Query q = {.db = db};
    sqlite3_stmt **statement = &db->statements[id];
    if (db->failed)
        return q;
    if (!*statement && sqlite3_prepare_v3(db->connection, db_query_text(id), -1,
                                          SQLITE_PREPARE_PERSISTENT, statement, NULL) != SQLITE_OK)
        db_fail(db, db_query_name(id));
    else if (sqlite3_stmt_busy(*statement))
        fail(&(Query){.db = db, .statement = *statement}, "the query still runs");
    else
        q.statement = *statement;
    return q;
}

static void check_set(Query *q, int rc) {
    if (q->statement && rc != SQLITE_OK)
        db_fail(q->db, sqlite3_sql(q->statement));
}

void query_set_int(Query *q, int at, int64_t value) {
    check_set(q, sqlite3_bind_int64(q->statement, at, value));
}

void query_set_int_or_null(Query *q, int at, const int64_t *value) {
    if (value)
        query_set_int(q, at, *value);
    else
        check_set(q, sqlite3_bind_null(q->statement, at));
}

// SQLite stores NaN as NULL.
void query_set_real(Query *q, int at, double value) {
    check_set(q, sqlite3_bind_double(q->statement, at, value));
}

static bool is_utf8(const char *text) {
    size_t left = strlen(text), size = 1;
    for (unsigned code; left && size; text += size, left -= size)
        size = utf8_character(text, left, &code);
    return left == 0;
}

void query_set_text(Query *q, int at, const char *value) {
    q->bad_text |= value && !is_utf8(value);
    check_set(q, sqlite3_bind_text(q->statement, at, value, -1, SQLITE_TRANSIENT));
}

void query_set_bytes(Query *q, int at, SqlBytes value) {
    check_set(q, sqlite3_bind_blob64(q->statement, at, value.data, value.size, SQLITE_TRANSIENT));
}

void query_set_bool(Query *q, int at, bool value) {
    query_set_int(q, at, value);
}

// ---- steps --------------------------------------------------------------------------------------

bool query_step(Query *q) {
    int rc = q->statement ? sqlite3_step(q->statement) : SQLITE_DONE;
    if (rc == SQLITE_ROW)
        return true;
    if (rc != SQLITE_DONE && rc != SQLITE_CONSTRAINT)
        db_fail(q->db, sqlite3_sql(q->statement));
    query_end(q);
    return false;
}

// A write with RETURNING is stepped to its end, so that no unfinished write remains for the next
// savepoint.
void query_end(Query *q) {
    if (!q->statement)
        return;
    if (!sqlite3_stmt_readonly(q->statement) && sqlite3_stmt_busy(q->statement))
        while (sqlite3_step(q->statement) == SQLITE_ROW)
            ;
    sqlite3_reset(q->statement);
    sqlite3_clear_bindings(q->statement);
    q->statement = NULL;
}

// ---- columns ------------------------------------------------------------------------------------

bool query_has(Query *q, int column) {
    return sqlite3_column_type(q->statement, column) != SQLITE_NULL;
}

static void require(Query *q, int column) {
    if (!query_has(q, column))
        fail(q, sqlite3_column_name(q->statement, column));
}

int64_t query_get_int_or_null(Query *q, int column) {
    return sqlite3_column_int64(q->statement, column);
}

int64_t query_get_int(Query *q, int column) {
    require(q, column);
    return query_get_int_or_null(q, column);
}

double query_get_real_or_null(Query *q, int column) {
    return query_has(q, column) ? sqlite3_column_double(q->statement, column) : NAN;
}

double query_get_real(Query *q, int column) {
    require(q, column);
    return sqlite3_column_double(q->statement, column);
}

const char *query_get_text_or_null(Query *q, int column) {
    return (const char *)sqlite3_column_text(q->statement, column);
}

const char *query_get_text(Query *q, int column) {
    const char *text = query_get_text_or_null(q, column);
    require(q, column);
    return text ? text : "";
}

SqlBytes query_get_bytes_or_null(Query *q, int column) {
    const void *data = sqlite3_column_blob(q->statement, column);
    return (SqlBytes){data, (size_t)sqlite3_column_bytes(q->statement, column)};
}

SqlBytes query_get_bytes(Query *q, int column) {
    require(q, column);
    return query_get_bytes_or_null(q, column);
}

bool query_get_bool_or_null(Query *q, int column) {
    return query_get_int_or_null(q, column) != 0;
}

bool query_get_bool(Query *q, int column) {
    return query_get_int(q, column) != 0;
}

void query_own_texts(char **owned, const char **const members[]) {
    size_t size = 0;
    for (int i = 0; members[i]; i++)
        size += *members[i] ? strlen(*members[i]) + 1 : 0;
    char *block = xmalloc(size ? size : 1), *at = block;
    for (int i = 0; members[i]; i++)
        if (*members[i]) {
            size_t length = strlen(*members[i]) + 1;
            *members[i] = memcpy(at, *members[i], length);
            at += length;
        }
    free(*owned);
    *owned = block;
}

// ---- one value ----------------------------------------------------------------------------------

static bool has_value(Query *q) {
    return query_step(q) && query_has(q, 0);
}

int64_t query_value_int(Query *q, int64_t fallback) {
    int64_t value = has_value(q) ? query_get_int(q, 0) : fallback;
    query_end(q);
    return value;
}

double query_value_real(Query *q, double fallback) {
    double value = has_value(q) ? query_get_real(q, 0) : fallback;
    query_end(q);
    return value;
}

bool query_value_bool(Query *q) {
    return query_value_int(q, 0) != 0;
}

char *query_value_text(Query *q) {
    char *value = has_value(q) ? xstrdup(query_get_text(q, 0)) : NULL;
    query_end(q);
    return value;
}

// ---- documents ----------------------------------------------------------------------------------

static bool ends_in_json(const char *name) {
    size_t size = strlen(name);
    return size > 5 && !strcmp(name + size - 5, "_json");
}

// Text from outside was checked before it was stored. If a byte of it is not UTF-8 nevertheless,
// the row is still returned.
static json_t *column_json(sqlite3_stmt *statement, int column, bool is_bool, bool parse) {
    const char *text;
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        return json_null();
    case SQLITE_INTEGER:
        return is_bool ? json_boolean(sqlite3_column_int64(statement, column))
                       : json_integer(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
        return json_real(sqlite3_column_double(statement, column));
    default:
        text = (const char *)sqlite3_column_text(statement, column);
        if (!parse)
            return text_to_json(text, (size_t)sqlite3_column_bytes(statement, column));
        json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
        return value ? value : json_null();
    }
}

static json_t *row_json(sqlite3_stmt *statement, const char *bools) {
    json_t *row = json_object();
    int count = sqlite3_column_count(statement);
    for (int i = 0; i < count; i++) {
        const char *name = sqlite3_column_name(statement, i);
        bool parse = ends_in_json(name);
        char *key scope(free_ptr) = xstrndup(name, strlen(name) - (parse ? 5 : 0));
        json_object_set_new(row, key, column_json(statement, i, bools[i] == 'b', parse));
    }
    return row;
}

json_t *query_object(Query *q, const char *bools) {
    json_t *row = query_step(q) ? row_json(q->statement, bools) : NULL;
    query_end(q);
    return row;
}

json_t *query_array(Query *q, const char *bools) {
    json_t *rows = json_array();
    while (query_step(q))
        json_array_append_new(rows, row_json(q->statement, bools));
    return rows;
}

// ---- writes -------------------------------------------------------------------------------------

// A constraint that fails is the fault of the data. Any other failure is the fault of the database.
bool query_write(Query *q, Error *err) {
    int rc = q->statement && !q->bad_text ? sqlite3_step(q->statement) : SQLITE_ERROR;
    if (q->bad_text)
        error_set(err, 422, "bad_request", "the text is not UTF-8");
    else if (rc == SQLITE_CONSTRAINT)
        error_set(err, 409, "conflict", "%s", sqlite3_errmsg(q->db->connection));
    else if (rc != SQLITE_DONE)
        db_unavailable(err);
    if (q->statement && !q->bad_text && rc != SQLITE_CONSTRAINT && rc != SQLITE_DONE)
        db_fail(q->db, sqlite3_sql(q->statement));
    query_end(q);
    return rc == SQLITE_DONE;
}

int64_t db_last_id(Db *db) {
    return sqlite3_last_insert_rowid(db->connection);
}

int db_changes(Db *db) {
    return sqlite3_changes(db->connection);
}
