// The fields of a test, as people fill them in: one table with the bounds and the default of each.
//
// A test's fields are a JSON object. They arrive as text, by a form or by the API;
// submit_fields_check() tests each and turns the numbers into JSON numbers, once. Everything here
// is pure.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/common/error.h"
#include "server/submit/field_rules.h"

// ---- reading

// From a JSON object (numbers, booleans and objects of options become text), refusing names that
// are not in the table; new.
json_t *submit_fields_of_json(const json_t *object, Error *err);
// 422: what is said of a field `seed`, which no test has. Always false.
bool submit_refuse_seed(Error *err);
// Adds one field of a form. 422 `bad_field` if it is not UTF-8.
bool submit_fields_add(json_t *fields, const char *name, const char *text, size_t size, Error *err);
// The fields of a test that exists, from sql_test_settings(); new, and text as if they had arrived.
json_t *submit_fields_of_test(const json_t *settings);

// ---- checking

// Each field by itself. Removes empty ones, and parameters of other workloads than the one that the
// fields name. Turns the text of numbers into numbers. A second call changes nothing.
bool submit_fields_check(json_t *fields, Error *err);
// The same for the field of one rule.
bool submit_field_check(json_t *fields, const FieldRule *rule, Error *err);
// Fills in absent fields: defaults, and those that follow from other fields (batch_pairs,
// pairs_max).
void submit_fields_complete(json_t *fields);
// Sets pairs_max, rounded up to a multiple of a batch: pairs are dealt in whole batches.
void submit_set_pairs(json_t *fields, int64_t pairs, int64_t batch);
// What several fields say together. For complete fields.
bool submit_fields_agree(const json_t *fields, Error *err);

// ---- values of checked fields

const char *field_text(const json_t *fields, const char *name); // borrowed; "" when absent
int64_t field_whole(const json_t *fields, const char *name);    // 0 when absent
double field_real(const json_t *fields, const char *name);      // 0 when absent
json_t *field_adjudication(const json_t *fields);               // as in API.md, new
