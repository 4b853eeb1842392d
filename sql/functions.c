// Makes a C function of each named query, with the types that types.c finds. Runs at build time, on
// an empty database with the schema, so that SQLite itself says what fits. A wrong name, a wrong
// type, a parameter left out or given twice does not compile. The second word of the query's name
// line is its form:
//
//     -- name: test_stop            sql_test_stop(db, err, …)        writes; false and an error
//     -- name: test_by_id row       sql_test_by_id(db, &row, …)      the first row; false: none
//     -- name: tests_open rows      sql_tests_open(db, …)            a cursor over the rows
//     -- name: test_count value     sql_test_count(db, 0, …)         one column of the first row
//     -- name: page_test object     sql_page_test(db, …)             the first row as JSON, or NULL
//     -- name: page_tests array     sql_page_tests(db, …)            all rows as JSON
//
// server/db/query.h says how they are called. usage: functions FOLDER: writes FOLDER/FILE.h for
// each FILE.sql.
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sql_forms.h"
#include "sql_text.h"
#include "types.h"

typedef enum { FORM_WRITE, FORM_ROW, FORM_ROWS, FORM_VALUE, FORM_OBJECT, FORM_ARRAY } Form;

static const char *const form_names[] = {
    [FORM_WRITE] = "",      [FORM_ROW] = "row",       [FORM_ROWS] = "rows",
    [FORM_VALUE] = "value", [FORM_OBJECT] = "object", [FORM_ARRAY] = "array"};

typedef struct Function {
    const char *name; // of the query
    char type[80];    // SqlTestById
    Form form;
    Signature is;
} Function;

static FILE *out;

static void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void print(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(out, format, args);
    va_end(args);
}

static void print_upper(const char *text) {
    for (; *text; text++)
        fputc(toupper((unsigned char)*text), out);
}

// "test_by_id" → "SqlTestById".
static void make_type(const char *name, char *type, size_t size) {
    size_t length = 3;
    snprintf(type, size, "Sql");
    for (bool upper = true; *name && length + 1 < size; name++) {
        if (*name != '_')
            type[length++] = upper ? (char)toupper((unsigned char)*name) : *name;
        upper = *name == '_';
    }
    type[length] = '\0';
}

// ---- parameters ---------------------------------------------------------------------------------

static const char *const parameter_types[] = {[TYPE_INT] = "int64_t ",
                                              [TYPE_REAL] = "double ",
                                              [TYPE_TEXT] = "const char *",
                                              [TYPE_BYTES] = "SqlBytes ",
                                              [TYPE_BOOL] = "bool "};
static const char *const type_words[] = {[TYPE_INT] = "int",
                                         [TYPE_REAL] = "real",
                                         [TYPE_TEXT] = "text",
                                         [TYPE_BYTES] = "bytes",
                                         [TYPE_BOOL] = "bool"};

// NULL is NULL for text, NaN for real; an int takes a pointer if it may be NULL.
static void print_parameter(const Field *p) {
    bool pointer = p->type == TYPE_INT && p->nullable;
    print("%s%s", pointer ? "const int64_t *" : parameter_types[p->type], p->name);
}

// Two parameters or more are members of a struct. A value without a name would initialise the
// member that follows the one before it. So members that no value fits stand at both ends and
// between.
static void print_values(const Function *f) {
    if (f->is.parameter_count < 2)
        return;
    print("typedef struct %sValues {\n    const SqlNamesOnly *names_only0;\n", f->type);
    for (int i = 0; i < f->is.parameter_count; i++) {
        print("    ");
        print_parameter(&f->is.parameters[i]);
        print(";\n    const SqlNamesOnly *names_only%d;\n", i + 1);
    }
    print("} %sValues;\n", f->type);
}

// The head of the function: `before` are the parameters after `db` that every call has.
static void print_head(const Function *f, const char *result, const char *before) {
    bool many = f->is.parameter_count > 1;
    print("static inline %ssql_%s%s(Db *db%s", result, f->name, many ? "_with" : "", before);
    if (f->is.parameter_count == 1) {
        print(", ");
        print_parameter(&f->is.parameters[0]);
    } else if (many) {
        print(", const %sValues *values", f->type);
    }
    print(") {\n    Query q = query_open(db, SQL_");
    print_upper(f->name);
    print(");\n");
    for (int i = 0; i < f->is.parameter_count; i++) {
        const Field *p = &f->is.parameters[i];
        bool pointer = p->type == TYPE_INT && p->nullable;
        print("    query_set_%s%s(&q, %d, %s%s);\n", type_words[p->type], pointer ? "_or_null" : "",
              i + 1, many ? "values->" : "", p->name);
    }
}

// The macro that takes each parameter by name: as many arguments as there are parameters. NULL and
// 0 fit the members between them, too. So the macro initialises those itself, and a member that is
// initialised twice is an error. `arguments` are the names of those that every call has.
static void print_macro(const Function *f, const char *arguments) {
    if (f->is.parameter_count < 2)
        return;
    print("#define sql_%s(db%s", f->name, arguments);
    for (int i = 0; i < f->is.parameter_count; i++)
        print(", p%d", i + 1);
    print(") \\\n    sql_%s_with((db)%s, &(%sValues){", f->name, arguments, f->type);
    for (int i = 0; i < f->is.parameter_count; i++)
        print("p%d, ", i + 1);
    for (int i = 0; i <= f->is.parameter_count; i++)
        print("%s.names_only%d = NULL", i ? ", " : "", i);
    print("})\n");
}

// ---- rows ---------------------------------------------------------------------------------------

static bool has_text(const Function *f) {
    for (int i = 0; i < f->is.column_count; i++)
        if (f->is.columns[i].type == TYPE_TEXT)
            return true;
    return false;
}

static void print_row_type(const Function *f) {
    print("typedef struct %s {\n", f->type);
    if (f->form == FORM_ROW && has_text(f))
        print("    char *owned;\n");
    for (int i = 0; i < f->is.column_count; i++) {
        const Field *c = &f->is.columns[i];
        print("    %s%s;\n", parameter_types[c->type], c->name);
        if (c->nullable && (c->type == TYPE_INT || c->type == TYPE_BOOL))
            print("    bool has_%s;\n", c->name);
    }
    print("} %s;\n", f->type);
}

static void print_reading(const Function *f) {
    print("static inline void sql_%s_read(Query *q, %s *row) {\n", f->name, f->type);
    for (int i = 0; i < f->is.column_count; i++) {
        const Field *c = &f->is.columns[i];
        if (c->nullable && (c->type == TYPE_INT || c->type == TYPE_BOOL))
            print("    row->has_%s = query_has(q, %d);\n", c->name, i);
        print("    row->%s = query_get_%s%s(q, %d);\n", c->name, type_words[c->type],
              c->nullable ? "_or_null" : "", i);
    }
    print("}\n");
}

static void print_row(const Function *f) {
    char before[120];
    snprintf(before, sizeof before, ", %s *row", f->type);
    print_row_type(f);
    print_reading(f);
    print_values(f);
    print_head(f, "bool ", before);
    print("    bool found = query_step(&q);\n    if (found)\n        sql_%s_read(&q, row);\n",
          f->name);
    if (has_text(f)) {
        print("    if (found)\n        query_own_texts(&row->owned, (const char **[]){");
        for (int i = 0; i < f->is.column_count; i++)
            if (f->is.columns[i].type == TYPE_TEXT)
                print("&row->%s, ", f->is.columns[i].name);
        print("NULL});\n");
    }
    print("    query_end(&q);\n    return found;\n}\n");
    print_macro(f, ", row");
}

static void print_rows(const Function *f) {
    char result[120];
    snprintf(result, sizeof result, "%sRows ", f->type);
    print_row_type(f);
    print_reading(f);
    print("typedef struct %sRows {\n    Query query;\n    %s row;\n} %sRows;\n", f->type, f->type,
          f->type);
    print_values(f);
    print_head(f, result, "");
    print("    return (%sRows){.query = q};\n}\n", f->type);
    print("static inline bool sql_%s_next(%sRows *rows) {\n", f->name, f->type);
    print("    bool found = query_step(&rows->query);\n    if (found)\n"
          "        sql_%s_read(&rows->query, &rows->row);\n    return found;\n}\n",
          f->name);
    print_macro(f, "");
}

// ---- other forms --------------------------------------------------------------------------------

static void print_value(const Function *f) {
    Type type = f->is.columns[0].type;
    bool falls_back = type == TYPE_INT || type == TYPE_REAL;
    print_values(f);
    print_head(f, type == TYPE_TEXT ? "char *" : parameter_types[type],
               type == TYPE_INT ? ", int64_t fallback"
               : falls_back     ? ", double fallback"
                                : "");
    print("    return query_value_%s(&q%s);\n}\n", type_words[type],
          falls_back ? ", fallback" : "");
    print_macro(f, falls_back ? ", fallback" : "");
}

static void print_document(const Function *f) {
    print_values(f);
    print_head(f, "json_t *", "");
    print("    return query_%s(&q, \"", form_names[f->form]);
    for (int i = 0; i < f->is.column_count; i++)
        print("%c", f->is.columns[i].type == TYPE_BOOL ? 'b' : '-');
    print("\");\n}\n");
    print_macro(f, "");
}

static void print_write(const Function *f) {
    print_values(f);
    print_head(f, "bool ", ", Error *err");
    print("    return query_write(&q, err);\n}\n");
    print_macro(f, ", err");
}

static void print_function(const Function *f) {
    static void (*const printers[])(const Function *) = {
        [FORM_WRITE] = print_write, [FORM_ROW] = print_row,         [FORM_ROWS] = print_rows,
        [FORM_VALUE] = print_value, [FORM_OBJECT] = print_document, [FORM_ARRAY] = print_document};
    print("\n// ---- %s\n", f->name);
    printers[f->form](f);
}

// ---- all queries --------------------------------------------------------------------------------

static Form form_of(const char *name) {
    int form = FORM_WRITE;
    while (strcmp(form_names[form], name) != 0)
        form++; // generate.awk lets no other word through
    return (Form)form;
}

static bool refuse(const Function *f, const char *why) {
    fprintf(stderr, "sql: query %s: %s\n", f->name, why);
    return false;
}

static bool fits_form(const Function *f) {
    if ((f->form == FORM_WRITE) != (f->is.column_count == 0))
        return refuse(f, f->form == FORM_WRITE ? "it has columns: it needs a form" : "no columns");
    if (f->form == FORM_VALUE && f->is.column_count != 1)
        return refuse(f, "a value is one column");
    for (int i = 0; i < f->is.column_count; i++)
        if (f->is.columns[i].type == TYPE_BYTES && f->form != FORM_ROWS)
            return refuse(f, "bytes are read by a cursor (rows)");
    return true;
}

static bool query_print(sqlite3 *db, int id) {
    Source source = {sql_queries[id].name, sql_queries[id].text, sql_forms[id].types};
    Function f = {.name = source.name, .form = form_of(sql_forms[id].form)};
    TypesUse use = f.form == FORM_VALUE                            ? TYPES_VALUE
                   : f.form == FORM_ARRAY || f.form == FORM_OBJECT ? TYPES_DOCUMENT
                                                                   : TYPES_ROW;
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, source.text, -1, &statement, NULL) != SQLITE_OK)
        return refuse(&f, sqlite3_errmsg(db));
    make_type(f.name, f.type, sizeof f.type);
    bool good = types_find(db, &source, statement, use, &f.is) && fits_form(&f);
    if (good)
        print_function(&f);
    sqlite3_finalize(statement);
    return good;
}

static bool file_print(sqlite3 *db, const char *folder, const char *file) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.h", folder, file);
    out = fopen(path, "w");
    if (!out) {
        perror(path);
        return false;
    }
    print("// The queries of sql/%s.sql. Generated by sql/functions.c.\n#pragma once\n"
          "#include \"server/db/query.h\"\n",
          file);
    bool good = true;
    for (int id = 0; id < SQL_COUNT; id++)
        if (strcmp(sql_forms[id].file, file) == 0)
            good &= query_print(db, id);
    return fclose(out) == 0 && good;
}

// The newest version of the schema.
static bool make_tables(sqlite3 *db) {
    for (size_t i = 0; i < sizeof sql_scripts / sizeof *sql_scripts; i++)
        if (sqlite3_exec(db, sql_scripts[i], NULL, NULL, NULL) != SQLITE_OK) {
            fprintf(stderr, "version %zu of the schema: %s\n", i + 1, sqlite3_errmsg(db));
            return false;
        }
    return true;
}

// The queries of a file stand together.
int main(int argc, char **argv) {
    sqlite3 *db;
    if (argc != 2 || sqlite3_open(":memory:", &db) != SQLITE_OK || !make_tables(db))
        return 1;
    bool good = true;
    for (int id = 0; id < SQL_COUNT; id++)
        if (id == 0 || strcmp(sql_forms[id].file, sql_forms[id - 1].file) != 0)
            good &= file_print(db, argv[1], sql_forms[id].file);
    sqlite3_close(db);
    return good ? 0 : 1;
}
