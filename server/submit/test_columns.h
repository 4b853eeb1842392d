// The columns of the tables `tests` and `sides`, and what each means to a person who approves a
// test. These are the only lists of them in C: the hash of an approval follows from them, and
// tests/unit/server/test_submit_columns.c compares them with the schema.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "server/common/hash.h"
#include "server/db/db.h"
#include "server/db/turn.h"

typedef enum {
    // Decides what runs on volunteers' machines, or for how long: an approval covers it.
    COLUMN_APPROVED,
    COLUMN_SHOWN, // for people: it may change without a new approval
    COLUMN_STATE, // what became of the test
} ColumnKind;

typedef struct TestColumn {
    const char *name;
    ColumnKind kind;
} TestColumn;

extern const TestColumn test_columns[], side_columns[]; // each ends with name NULL
const TestColumn *test_column(const TestColumn *columns, const char *name);

// What a test refers to, beside its fields. Only the book of an existing test may change.
typedef struct TestOrigin {
    int64_t engine, author, retest_of, book; // retest_of 0: of none
} TestOrigin;

// Writes checked and complete fields to a test, or with `test` 0 to a new one (db_last_id()).
bool test_write(Turn *turn, int64_t test, TestOrigin origin, const json_t *fields, Error *err);

// The column `parameters`, from checked and complete fields. New.
char *test_parameters_text(const json_t *fields);
// SHA-256 of all columns that an approval covers, of the test and its sides, and of what they refer
// to: the recipe of each side's engine, the snapshots of the commits and their nets, the book.
// False: there is no such test.
bool test_approval_hash(Db *db, int64_t test, char hash[SHA256_HEX_MAX]);
