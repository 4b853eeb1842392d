// The table of the fields of a test: their bounds and defaults.
#pragma once

#include <stdbool.h>

#include "server/ledger/field_rule.h"

// Field `index` of all that a test may have: first those of every test, then the parameters of each
// workload. NULL: there are no more.
const FieldRule *submit_rule_at(int index);
const FieldRule *submit_rule(const char *name);
// Whether tests of this workload have the field. A form sends the parameters of all workloads, and
// a preset may be made for another one.
bool submit_rule_fits(const FieldRule *rule, const char *workload);
