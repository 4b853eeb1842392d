// Values that the documents of several kinds have.
#pragma once

#include "server/ledger/kind.h"

// JSON has no infinity and no NaN: null.
json_t *kind_real(double value);
// `pairs_left` further pairs at most; `pass` NAN: not known.
json_t *kind_eta(const TestFacts *facts, double pairs_left, double pass);
