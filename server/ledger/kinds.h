// The table of the kinds of tests.
#pragma once

#include "server/ledger/kind.h"

extern const Kind *const kinds[KIND_COUNT];
// KIND_COUNT if there is no kind of that name.
TestKind test_kind_of(const char *name);
