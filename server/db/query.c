// The database facade over SQLite, see db.h: statements with their parameters, rows and writes.
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/common/log.h"
#include "server/common/str.h"
#include "server/db/connection.h"
#include "server/db/db.h"
#include "server/db/schema.h"

// ---- statements ---------------------------------------------------------------------------------

static int bind_one(sqlite3_stmt *statement, int at, char type, va_list *args) {
    switch (type) {
    case 'i':
        return sqlite3_bind_int64(statement, at, va_arg(*args, int64_t));
    case 'd':
        return sqlite3_bind_double(statement, at, va_arg(*args, double));
    case 's':
        return sqlite3_bind_text(statement, at, va_arg(*args, const char *), -1, SQLITE_TRANSIENT);
    case 'b': {
        const void *data = va_arg(*args, const void *);
        return sqlite3_bind_blob64(statement, at, data, va_arg(*args, size_t), SQLITE_TRANSIENT);
    }
    case 'n':
        return sqlite3_bind_null(statement, at);
    default:
        return SQLITE_MISUSE;
    }
}

static sqlite3_stmt *statement_prepare(Db *db, SqlId id) {
    sqlite3_stmt **statement = &db->statements[id];
    if (!*statement && sqlite3_prepare_v3(db->connection, db_query_text(id), -1,
                                          SQLITE_PREPARE_PERSISTENT, statement, NULL) != SQLITE_OK)
        db_fail(db, db_query_name(id));
    return *statement;
}

// The statement with its arguments bound, ready to step; NULL if the database has failed. If the
// statement still runs, our code is wrong: a loop did not end it, or uses it inside itself. It must
// not read the rows of the other query, so this is a failure too.
static sqlite3_stmt *statement_start(Db *db, SqlId id, const char *types, va_list *args) {
    sqlite3_stmt *statement = db->failed ? NULL : statement_prepare(db, id);
    if (!statement)
        return NULL;
    if (sqlite3_stmt_busy(statement) ||
        sqlite3_bind_parameter_count(statement) != (int)strlen(types)) {
        log_error("query %s: still running, or not %zu arguments", db_query_name(id),
                  strlen(types));
        db->failed = true;
        return NULL;
    }
    for (int i = 0; types[i]; i++)
        if (bind_one(statement, i + 1, types[i], args) != SQLITE_OK) {
            db_fail(db, db_query_name(id));
            return NULL;
        }
    return statement;
}

// Binds a value by its JSON type; -1 if a parameter cannot have that type.
static int bind_json(sqlite3_stmt *statement, int at, const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_INTEGER:
        return sqlite3_bind_int64(statement, at, json_integer_value(value));
    case JSON_REAL:
        return sqlite3_bind_double(statement, at, json_real_value(value));
    case JSON_STRING:
        return sqlite3_bind_text(statement, at, json_string_value(value),
                                 (int)json_string_length(value), SQLITE_TRANSIENT);
    case JSON_TRUE:
    case JSON_FALSE:
        return sqlite3_bind_int(statement, at, json_is_true(value));
    case JSON_NULL:
        return sqlite3_bind_null(statement, at);
    default:
        return SQLITE_MISUSE;
    }
}

// Bytes for the parameter :blob, which JSON cannot hold.
typedef struct Blob {
    const void *data;
    size_t size;
} Blob;

static bool bind_named(sqlite3_stmt *statement, const json_t *values, const Blob *blob) {
    int count = sqlite3_bind_parameter_count(statement);
    if ((size_t)count != json_object_size(values) + (blob != NULL))
        return false;
    for (int at = 1; at <= count; at++) {
        const char *name = sqlite3_bind_parameter_name(statement, at);
        if (name && blob && strcmp(name, ":blob") == 0) {
            sqlite3_bind_blob64(statement, at, blob->data, blob->size, SQLITE_TRANSIENT);
            continue;
        }
        const json_t *value = name ? json_object_get(values, name + 1) : NULL;
        if (!value || bind_json(statement, at, value) != SQLITE_OK)
            return false;
    }
    return true;
}

// Like statement_start(). Steals `values`.
static sqlite3_stmt *statement_start_named(Db *db, SqlId id, json_t *values, const Blob *blob) {
    sqlite3_stmt *statement = db->failed ? NULL : statement_prepare(db, id);
    if (statement && (sqlite3_stmt_busy(statement) || !bind_named(statement, values, blob))) {
        char *given scope(free_ptr) = values ? json_dumps(values, JSON_COMPACT) : NULL;
        log_error("query %s: still running, or its parameters are not %s", db_query_name(id),
                  given ? given : "UTF-8");
        db->failed = true;
        statement = NULL;
    }
    json_decref(values);
    return statement;
}

// A constraint that fails is the fault of the data. Any other failure is the fault of the database.
static int statement_step(Db *db, sqlite3_stmt *statement) {
    int rc = sqlite3_step(statement);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE && rc != SQLITE_CONSTRAINT)
        db_fail(db, sqlite3_sql(statement));
    return rc;
}

// A write with RETURNING is stepped to its end, so that no unfinished write remains for the next
// savepoint.
static void statement_finish(sqlite3_stmt *statement) {
    if (!statement)
        return;
    if (!sqlite3_stmt_readonly(statement) && sqlite3_stmt_busy(statement))
        while (sqlite3_step(statement) == SQLITE_ROW)
            ;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

// Steps `statement` to its first row; NULL if there is none. NULL stays NULL.
static sqlite3_stmt *at_first_row(Db *db, sqlite3_stmt *statement) {
    if (statement && statement_step(db, statement) == SQLITE_ROW)
        return statement;
    statement_finish(statement);
    return NULL;
}

static sqlite3_stmt *statement_first(Db *db, SqlId id, const char *types, va_list *args) {
    return at_first_row(db, statement_start(db, id, types, args));
}

// ---- rows ---------------------------------------------------------------------------------------

static bool ends_in_json(const char *name) {
    size_t size = strlen(name);
    return size > 5 && !strcmp(name + size - 5, "_json");
}

// Text from outside was checked before it was stored. If a byte of it is not UTF-8 nevertheless,
// the row is still returned.
static json_t *column_json(sqlite3_stmt *statement, int column, bool parse) {
    const char *text;
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        return json_null();
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(statement, column));
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

static json_t *row_json(sqlite3_stmt *statement) {
    json_t *row = json_object();
    int count = sqlite3_column_count(statement);
    for (int i = 0; i < count; i++) {
        const char *name = sqlite3_column_name(statement, i);
        bool parse = ends_in_json(name);
        char *key scope(free_ptr) = xstrndup(name, strlen(name) - (parse ? 5 : 0));
        json_object_set_new(row, key, column_json(statement, i, parse));
    }
    return row;
}

static json_t *take_row(sqlite3_stmt *statement) {
    json_t *row = statement ? row_json(statement) : NULL;
    statement_finish(statement);
    return row;
}

json_t *db_row(Db *db, SqlId id, const char *types, ...) {
    va_list args;
    va_start(args, types);
    sqlite3_stmt *statement = statement_first(db, id, types, &args);
    va_end(args);
    return take_row(statement);
}

json_t *db_row_named(Db *db, SqlId id, json_t *values) {
    return take_row(at_first_row(db, statement_start_named(db, id, values, NULL)));
}

static json_t *take_rows(Query q) {
    json_t *rows = json_array();
    while (query_step(&q))
        json_array_append_new(rows, query_json(&q));
    return rows;
}

json_t *db_rows(Db *db, SqlId id, const char *types, ...) {
    va_list args;
    va_start(args, types);
    Query q = {.db = db, .statement = statement_start(db, id, types, &args)};
    va_end(args);
    return take_rows(q);
}

json_t *db_rows_named(Db *db, SqlId id, json_t *values) {
    return take_rows(query_named(db, id, values));
}

static int64_t take_int(sqlite3_stmt *statement, int64_t otherwise) {
    if (statement && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        otherwise = sqlite3_column_int64(statement, 0);
    statement_finish(statement);
    return otherwise;
}

int64_t db_int(Db *db, SqlId id, int64_t otherwise, const char *types, ...) {
    va_list args;
    va_start(args, types);
    sqlite3_stmt *statement = statement_first(db, id, types, &args);
    va_end(args);
    return take_int(statement, otherwise);
}

int64_t db_int_named(Db *db, SqlId id, int64_t otherwise, json_t *values) {
    return take_int(at_first_row(db, statement_start_named(db, id, values, NULL)), otherwise);
}

double db_real(Db *db, SqlId id, double otherwise, const char *types, ...) {
    va_list args;
    va_start(args, types);
    sqlite3_stmt *statement = statement_first(db, id, types, &args);
    va_end(args);
    if (statement && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        otherwise = sqlite3_column_double(statement, 0);
    statement_finish(statement);
    return otherwise;
}

char *db_text(Db *db, SqlId id, const char *types, ...) {
    va_list args;
    va_start(args, types);
    sqlite3_stmt *statement = statement_first(db, id, types, &args);
    va_end(args);
    const char *text = statement ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    char *copy = text ? xstrdup(text) : NULL;
    statement_finish(statement);
    return copy;
}

// ---- writes -------------------------------------------------------------------------------------

static bool run_to_end(Db *db, Error *err, sqlite3_stmt *statement) {
    if (!statement)
        return db_unavailable(err);
    int rc;
    do
        rc = statement_step(db, statement);
    while (rc == SQLITE_ROW);
    if (rc == SQLITE_CONSTRAINT)
        error_set(err, 409, "conflict", "%s", sqlite3_errmsg(db->connection));
    else if (rc != SQLITE_DONE)
        db_unavailable(err);
    statement_finish(statement);
    return rc == SQLITE_DONE;
}

bool db_run(Db *db, Error *err, SqlId id, const char *types, ...) {
    va_list args;
    va_start(args, types);
    sqlite3_stmt *statement = statement_start(db, id, types, &args);
    va_end(args);
    return run_to_end(db, err, statement);
}

bool db_write(Db *db, Error *err, SqlId id, json_t *values) {
    if (!values)
        return error_set(err, 422, "bad_request", "the text is not UTF-8");
    return run_to_end(db, err, statement_start_named(db, id, values, NULL));
}

bool db_write_blob(Db *db, Error *err, SqlId id, json_t *values, const void *blob, size_t size) {
    if (!values)
        return error_set(err, 422, "bad_request", "the text is not UTF-8");
    return run_to_end(db, err, statement_start_named(db, id, values, &(Blob){blob, size}));
}

int64_t db_last_id(Db *db) {
    return sqlite3_last_insert_rowid(db->connection);
}

int db_changes(Db *db) {
    return sqlite3_changes(db->connection);
}

// ---- step by step -------------------------------------------------------------------------------

Query query(Db *db, SqlId id, const char *types, ...) {
    va_list args;
    va_start(args, types);
    Query q = {.db = db, .statement = statement_start(db, id, types, &args)};
    va_end(args);
    return q;
}

Query query_named(Db *db, SqlId id, json_t *values) {
    return (Query){.db = db, .statement = statement_start_named(db, id, values, NULL)};
}

bool query_step(Query *q) {
    if (q->statement && statement_step(q->db, q->statement) == SQLITE_ROW)
        return true;
    query_end(q);
    return false;
}

void query_end(Query *q) {
    statement_finish(q->statement);
    q->statement = NULL;
}

int64_t query_int(Query *q, int column) {
    return sqlite3_column_int64(q->statement, column);
}

double query_real(Query *q, int column) {
    return sqlite3_column_double(q->statement, column);
}

const char *query_text(Query *q, int column) {
    const char *text = (const char *)sqlite3_column_text(q->statement, column);
    return text ? text : "";
}

const void *query_blob(Query *q, int column, size_t *size) {
    const void *bytes = sqlite3_column_blob(q->statement, column);
    *size = (size_t)sqlite3_column_bytes(q->statement, column);
    return bytes;
}

json_t *query_json(Query *q) {
    return row_json(q->statement);
}
