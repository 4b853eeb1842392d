// The table of the fields of a test: their bounds and defaults.
#pragma once

#include "server/ledger/field_rule.h"

// Field `index` of all that a test may have: first those of every test, then the parameters of each
// workload. NULL: there are no more.
const FieldRule *submit_rule_at(int index);
const FieldRule *submit_rule(const char *name);
