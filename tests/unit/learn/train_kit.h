// What the tests of the trainer share: positions that random play reaches, the same each time.
#pragma once

#include "tests/unit/rules/rules_kit.h"

#include <stdlib.h>

#include "engine/rules/bitboard.h"

enum { POOL = 3000 };
static Position *pool;
static int pool_size;

static inline void pool_add(Position *pos) {
    if (pool_size < POOL && !pos->checkers)
        pool[pool_size++] = *pos;
}
static inline void pool_fill(void) {
    pool = calloc(POOL, sizeof *pool);
    random_walks(500, pool_add);
}
