// Values that the documents of several kinds contain.
#pragma once

#include "server/ledger/kind.h"

// A number; null for infinity and NaN, which JSON does not have.
json_t *kind_real(double value);
// `pairs_left`: the most further pairs. `pass` NAN: not known.
json_t *kind_eta(const TestFacts *facts, double pairs_left, double pass);
