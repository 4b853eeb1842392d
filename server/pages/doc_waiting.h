// The batches of a test that were played and wait to be counted (ledger/places.h).
#pragma once

#include "server/pages/doc.h"

// {"batches", "units", "since", "text"}: how many, since when the one waits that came first, and
// that in words; null if none waits or the test is finished. New.
json_t *doc_waiting(const DocContext *ctx, const json_t *row);
