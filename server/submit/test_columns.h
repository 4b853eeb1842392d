// The columns of the table `tests`, and what each means to a person who approves a test. This is
// the only list of them in C: the hash of an approval and the rows of submissions and modifications
// follow from it, and tests/unit/server/test_submit_columns.c compares it with the schema.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "server/common/hash.h"
#include "server/db/db.h"

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

extern const TestColumn test_columns[]; // ends with name NULL
const TestColumn *test_column(const char *name);

// The column `adjudication`, from checked and complete fields. New.
char *test_adjudication_text(const json_t *fields);
// The column `parameters`, from checked and complete fields. New.
char *test_parameters_text(const json_t *fields);
// SHA-256 of all columns that an approval covers, and of what they refer to: the engine's recipe,
// the snapshots of both commits and their nets, the book. False: there is no such test.
bool test_approval_hash(Db *db, int64_t test, char hash[SHA256_HEX_MAX]);
