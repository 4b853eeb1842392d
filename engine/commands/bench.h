// The bench: the node count that identifies how the engine plays.
#pragma once

#include "search/search.h"

enum { BENCH_HASH_MB = 16 };

// Nodes that `search` needs for the positions of `bench` at `depth`; clears it. `search` has
// BENCH_HASH_MB and one thread, or the number is another.
uint64_t bench_nodes(Search *search, int depth);
