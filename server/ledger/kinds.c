// See kinds.h.
#include "server/ledger/kinds.h"

#include <string.h>

#define KIND_EXTERN(upper, lower) extern const Kind kind_##lower;
TEST_KINDS(KIND_EXTERN)

#define KIND_ROW(upper, lower) [KIND_##upper] = &kind_##lower,
const Kind *const kinds[KIND_COUNT] = {TEST_KINDS(KIND_ROW)};

TestKind test_kind_of(const char *name) {
    int kind = 0;
    while (kind < KIND_COUNT && strcmp(kinds[kind]->name, name) != 0)
        kind++;
    return (TestKind)kind;
}
