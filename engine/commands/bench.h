// The bench: the node count that identifies how the engine plays.
#pragma once

#include "search/search.h"

enum { BENCH_HASH_MB = 16 };

// Searches the positions of `bench` to `depth` and returns the number of nodes. Clears `search`
// first. The number is the signature only if `search` has BENCH_HASH_MB and one thread.
uint64_t bench_nodes(Search *search, int depth);
