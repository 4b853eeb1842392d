// The table of the fields of a test: their bounds and defaults, and how the form shows them.
#pragma once

#include <stdbool.h>

#include "server/ledger/field_rule.h"

enum {
    SHOW_CODE = 1,     // in a fixed width
    SHOW_OPTIONAL = 2, // the form says so
    SHOW_FULL = 4,     // as wide as the form
};

// A field that every test has.
typedef struct CommonField {
    FieldRule rule;
    const char *part; // of the form, a list in page_new.c's document; NULL: it is not in the form
    const char *label;
    int flags;
    // `code` stands between backticks, {baseline} for the first digits of that commit, {lengths}
    // for the lengths of tests whose submission states none.
    const char *hint;
} CommonField;

const CommonField *common_field_at(int index); // NULL: there are no more

// Field `index` of all that a test may have: first those of every test, then the parameters of each
// workload. NULL: there are no more.
const FieldRule *submit_rule_at(int index);
const FieldRule *submit_rule(const char *name);
// Whether tests of this workload have the field. A form sends the parameters of all workloads, and
// a preset may be made for another one.
bool submit_rule_fits(const FieldRule *rule, const char *workload);
