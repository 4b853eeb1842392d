// Finds the types of a query. A type that the query states comes first. Else a column has the type
// that the schema declares for it, and a parameter has the type of the column with which it is
// compared, or in which it is stored:
//
//     WHERE t.id = :test    SET state = :state    INSERT INTO … (a, b) VALUES (:a, nullif(:b, 0))
//
// The parameter of LIMIT is an int.
// SQLite knows no type of an expression and of any other parameter, so the query states it on a
// line `-- types: :now real, games int?` below its name. A type is int, real, text, bytes or bool,
// with ? if the value may be NULL. A declared column may be NULL if the schema allows it. For an
// outer join the query states it, because SQLite does not say.
#include "types.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { TOKENS_MAX = 4000, NAME_MAX_SIZE = 64 };

typedef struct Token {
    const char *start;
    int size;
} Token;

typedef struct Text {
    Token tokens[TOKENS_MAX];
    int count;
} Text;

static bool complain(const Source *source, const char *what, const char *name) {
    fprintf(stderr, "sql: query %s: %s %s\n", source->name, name, what);
    return false;
}

// ---- words of the text --------------------------------------------------------------------------

static bool in_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static int token_size(const char *at) {
    int size = 1;
    if (*at == '\'' || *at == '"') {
        while (at[size] && at[size] != *at)
            size++;
        return at[size] ? size + 1 : size;
    }
    if (in_word(*at) || *at == ':') {
        while (in_word(at[size]))
            size++;
        return size;
    }
    return size + ((*at == '<' && (at[1] == '>' || at[1] == '=')) || (*at == '>' && at[1] == '='));
}

static void split(const char *sql, Text *text) {
    text->count = 0;
    while (*(sql += strspn(sql, " \n\t"))) {
        int size = token_size(sql);
        if (text->count < TOKENS_MAX)
            text->tokens[text->count++] = (Token){sql, size};
        sql += size;
    }
}

static bool is(const Text *text, int at, const char *word) {
    return at >= 0 && at < text->count && text->tokens[at].size == (int)strlen(word) &&
           strncasecmp(text->tokens[at].start, word, strlen(word)) == 0;
}

static bool is_parameter(const Text *text, int at, const char *name) {
    return at >= 0 && at < text->count && text->tokens[at].size == (int)strlen(name) + 1 &&
           *text->tokens[at].start == ':' &&
           strncmp(text->tokens[at].start + 1, name, strlen(name)) == 0;
}

// ---- declared types -----------------------------------------------------------------------------

static Type type_declared(const char *declared) {
    return !declared                          ? TYPE_NONE
           : strcmp(declared, "INTEGER") == 0 ? TYPE_INT
           : strcmp(declared, "REAL") == 0    ? TYPE_REAL
           : strcmp(declared, "TEXT") == 0    ? TYPE_TEXT
           : strcmp(declared, "BLOB") == 0    ? TYPE_BYTES
                                              : TYPE_NONE;
}

// The type of a column of a table or view; TYPE_NONE if there is no such column.
static Type column_type(sqlite3 *db, const char *table, Token column) {
    char sql[2 * NAME_MAX_SIZE + 32];
    sqlite3_stmt *statement;
    snprintf(sql, sizeof sql, "SELECT [%.*s] FROM [%s]", column.size, column.start, table);
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        return TYPE_NONE;
    Type type = type_declared(sqlite3_column_decltype(statement, 0));
    sqlite3_finalize(statement);
    return type;
}

// Whether the text gives `table` the name `alias`: FROM tests t, UPDATE tests, …
static bool has_alias(const Text *text, const char *table, Token alias) {
    for (int at = 0; at < text->count; at++) {
        int next = at + 1 + is(text, at + 1, "AS");
        if (is(text, at, table) && next < text->count && text->tokens[next].size == alias.size &&
            strncmp(text->tokens[next].start, alias.start, (size_t)alias.size) == 0)
            return true;
    }
    return alias.size == (int)strlen(table) && strncmp(alias.start, table, strlen(table)) == 0;
}

static bool is_used(const Text *text, const char *table) {
    for (int at = 0; at < text->count; at++)
        if (is(text, at, table))
            return true;
    return false;
}

// The one type of all columns that `word` may mean (name, alias.name); TYPE_NONE if there is none,
// or if they differ.
static Type word_type(sqlite3 *db, const Text *text, Token word) {
    const char *dot = memchr(word.start, '.', (size_t)word.size);
    Token alias = {word.start, dot ? (int)(dot - word.start) : 0}, column = word;
    if (dot)
        column = (Token){dot + 1, word.size - alias.size - 1};
    if (column.size >= NAME_MAX_SIZE)
        return TYPE_NONE;
    Type found = TYPE_NONE;
    bool differ = false;
    sqlite3_stmt *tables;
    sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')", -1,
                       &tables, NULL);
    while (sqlite3_step(tables) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(tables, 0);
        bool fits = dot ? has_alias(text, table, alias) : is_used(text, table);
        Type type = fits ? column_type(db, table, column) : TYPE_NONE;
        differ |= type && found && type != found;
        found = type ? type : found;
    }
    sqlite3_finalize(tables);
    return differ ? TYPE_NONE : found;
}

// ---- parameters ---------------------------------------------------------------------------------

static bool is_comparison(const Text *text, int at) {
    static const char *const operators[] = {"=", "<>", "<", "<=", ">", ">=", "IS", "GLOB", "LIKE"};
    for (int i = 0; i < (int)(sizeof operators / sizeof *operators); i++)
        if (is(text, at, operators[i]))
            return true;
    return false;
}

// For a value at `at` between the brackets of INSERT INTO table (…) VALUES (…): the token of the
// column in which it is stored; -1 if it is not there.
static int stored_in(const Text *text, int at) {
    int values = 0, depth = 0, place = 0, column = 0;
    while (values < at && !is(text, values, "VALUES"))
        values++;
    if (values == at || !is(text, 0, "INSERT"))
        return -1;
    for (int i = values + 1; i < at; i++) {
        depth += is(text, i, "(") - is(text, i, ")");
        if (depth == 0)
            return -1;
        place += depth == 1 && is(text, i, ",");
    }
    while (column < values && !is(text, column, "("))
        column++;
    column += 1 + 2 * place;
    return column < values ? column : -1;
}

// The type of the parameter at token `at`, from what stands around it.
static Type type_at(sqlite3 *db, const Text *text, int at) {
    int before = at - 1, after = at + 1, stored;
    if (is(text, at - 1, "(") && is(text, at - 2, "nullif")) {
        before = at - 3;
        after = at + 4;
        stored = stored_in(text, at - 2);
    } else {
        stored = is(text, at - 1, "(") || is(text, at - 1, ",") ? stored_in(text, at) : -1;
    }
    if (stored >= 0)
        return word_type(db, text, text->tokens[stored]);
    Type type = is(text, before, "LIMIT") ? TYPE_INT : TYPE_NONE;
    if (is_comparison(text, before) && before > 0)
        type = word_type(db, text, text->tokens[before - 1]);
    if (!type && is_comparison(text, after) && after + 1 < text->count)
        type = word_type(db, text, text->tokens[after + 1]);
    return type;
}

static bool parameter_deduce(sqlite3 *db, const Source *source, const Text *text, Field *field) {
    for (int at = 0; at < text->count; at++) {
        Type type = is_parameter(text, at, field->name) ? type_at(db, text, at) : TYPE_NONE;
        if (type && field->type && type != field->type)
            return complain(source, "is used as two types: state the one it has", field->name);
        field->type = type ? type : field->type;
    }
    return field->type ||
           complain(source, "has no type that can be deduced: state it in -- types:", field->name);
}

// ---- stated types -------------------------------------------------------------------------------

static Type type_stated(const char *word, int size) {
    static const char *const names[] = {[TYPE_INT] = "int",
                                        [TYPE_REAL] = "real",
                                        [TYPE_TEXT] = "text",
                                        [TYPE_BYTES] = "bytes",
                                        [TYPE_BOOL] = "bool"};
    for (int i = TYPE_INT; i <= TYPE_BOOL; i++)
        if ((int)strlen(names[i]) == size && strncmp(names[i], word, (size_t)size) == 0)
            return (Type)i;
    return TYPE_NONE;
}

static Field *field_named(Field *fields, int count, const char *name, int size) {
    for (int i = 0; i < count; i++)
        if ((int)strlen(fields[i].name) == size && strncmp(fields[i].name, name, (size_t)size) == 0)
            return &fields[i];
    return NULL;
}

// Reads "NAME TYPE, :NAME TYPE?, …".
static bool read_stated(const Source *source, Signature *signature) {
    for (const char *at = source->stated; *(at += strspn(at, " ,"));) {
        bool parameter = *at == ':';
        at += parameter;
        int size = (int)strcspn(at, " ,");
        const char *type = at + size + strspn(at + size, " ");
        int type_size = (int)strcspn(type, ",? ");
        bool nullable = type[type_size] == '?';
        Field *field =
            parameter ? field_named(signature->parameters, signature->parameter_count, at, size)
                      : field_named(signature->columns, signature->column_count, at, size);
        if (!field || !type_stated(type, type_size))
            return complain(source, "is stated there, and is no name and type of this query", at);
        field->type = type_stated(type, type_size);
        field->nullable = nullable;
        at = type + type_size + nullable;
    }
    return true;
}

// ---- columns ------------------------------------------------------------------------------------

static bool is_name(const char *text) {
    if (!isalpha((unsigned char)*text))
        return false;
    while (isalnum((unsigned char)*text) || *text == '_')
        text++;
    return !*text;
}

// Whether the schema allows NULL in the column from which column `i` of the statement comes.
static bool may_be_null(sqlite3 *db, sqlite3_stmt *statement, int i) {
    int not_null = 0, key = 0;
    const char *table = sqlite3_column_table_name(statement, i);
    const char *origin = sqlite3_column_origin_name(statement, i);
    return !table || !origin ||
           sqlite3_table_column_metadata(db, NULL, table, origin, NULL, NULL, &not_null, &key,
                                         NULL) != SQLITE_OK ||
           (!not_null && !key);
}

static bool column_find(sqlite3 *db, const Source *source, sqlite3_stmt *statement, int i,
                        Field *column) {
    if (column->type)
        return true; // stated
    column->type = type_declared(sqlite3_column_decltype(statement, i));
    column->nullable = column->type && may_be_null(db, statement, i);
    return column->type ||
           complain(source, "is an expression: state its type in -- types:", column->name);
}

static bool name_parameters(const Source *source, sqlite3_stmt *statement, Signature *signature) {
    for (int i = 0; i < signature->parameter_count; i++) {
        const char *name = sqlite3_bind_parameter_name(statement, i + 1);
        if (!name || *name != ':')
            return complain(source, "needs a name (:test)", name ? name : "a parameter");
        signature->parameters[i].name = name + 1;
    }
    return true;
}

static bool name_columns(const Source *source, sqlite3_stmt *statement, TypesUse use,
                         Signature *signature) {
    bool is_value = use == TYPES_VALUE && signature->column_count == 1;
    for (int i = 0; i < signature->column_count; i++) {
        Field *column = &signature->columns[i];
        column->name = is_value ? "value" : sqlite3_column_name(statement, i);
        bool taken = field_named(signature->columns, i, column->name, (int)strlen(column->name));
        if (!is_name(column->name) || taken)
            return complain(source, "needs a name of its own: AS …", column->name);
    }
    return true;
}

bool types_find(sqlite3 *db, const Source *source, sqlite3_stmt *statement, TypesUse use,
                Signature *signature) {
    static Text text;
    *signature = (Signature){.parameter_count = sqlite3_bind_parameter_count(statement),
                             .column_count = sqlite3_column_count(statement)};
    if (signature->parameter_count > FIELDS_MAX || signature->column_count > FIELDS_MAX)
        return complain(source, "has too many columns", "the query");
    if (!name_parameters(source, statement, signature) ||
        !name_columns(source, statement, use, signature) || !read_stated(source, signature))
        return false;
    split(source->text, &text);
    bool good = true;
    for (int i = 0; i < signature->parameter_count; i++)
        good &= signature->parameters[i].type ||
                parameter_deduce(db, source, &text, &signature->parameters[i]);
    for (int i = 0; use != TYPES_DOCUMENT && i < signature->column_count; i++)
        good &= column_find(db, source, statement, i, &signature->columns[i]);
    return good;
}
