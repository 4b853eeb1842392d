// The arguments of UCI's `go`. They have a file of their own so that they can be tested and fuzzed
// without a search.
#pragma once

#include "search/limits.h"

// Reads the text after the word `go` into `limits`, for a search from `pos`. On false, `*bad`
// points to the first word that cannot be read.
bool uci_parse_go(const char *text, const Position *pos, SearchLimits *limits, const char **bad);
