// The types of the parameters and columns of a query, for functions.c.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

typedef enum { TYPE_NONE, TYPE_INT, TYPE_REAL, TYPE_TEXT, TYPE_BYTES, TYPE_BOOL } Type;

typedef struct Field {
    const char *name; // of a parameter without its colon; borrowed from the statement
    Type type;
    bool nullable;
} Field;

enum { FIELDS_MAX = 100 };

typedef struct Signature {
    Field parameters[FIELDS_MAX], columns[FIELDS_MAX];
    int parameter_count, column_count;
} Signature;

// A query as the SQL files have it. `stated` is the text of its `-- types:` lines.
typedef struct Source {
    const char *name, *text, *stated;
} Source;

// What the types of the columns are needed for. TYPES_VALUE: there is one column, and its name is
// `value`. TYPES_DOCUMENT: for nothing, they keep TYPE_NONE.
typedef enum { TYPES_ROW, TYPES_VALUE, TYPES_DOCUMENT } TypesUse;

// Fills `signature`. False if a name or a type is missing, doubled or contradicted; each such place
// is told on the standard error stream.
bool types_find(sqlite3 *db, const Source *source, sqlite3_stmt *statement, TypesUse use,
                Signature *signature);
