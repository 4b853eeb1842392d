// What a field of a test may hold, and when it may change. The fields that all tests have stand in
// submit/fields.c, those of a workload in its own file. submit/fields.h checks values by these
// rules.
#pragma once

// When a field of a test that exists already may change.
typedef enum {
    CHANGE_FREELY,  // also while the test plays
    CHANGE_EARLY,   // what runs, so an approval covers it; only before the first result
    CHANGE_UNDEALT, // as CHANGE_EARLY, and only before the first unit was dealt
    CHANGE_NEVER,
} FieldChange;

typedef enum {
    FIELD_LINE, // one line of text of low to high bytes
    FIELD_TEXT,
    FIELD_WHOLE, // whole number from low to high
    FIELD_DECIMAL,
    FIELD_CHOICE,  // one of `choices`, divided by '|'
    FIELD_OPTIONS, // UCI options as text (common/option_text.h)
    FIELD_TC,
    FIELD_WORKLOAD, // the name of a workload
} FieldKind;

typedef struct FieldRule {
    const char *name;
    FieldKind kind;
    FieldChange change;
    double low, high;
    const char *fallback; // if it is absent or empty; NULL: it stays absent
    const char *choices;
} FieldRule;
