// What a patch is expected to be worth (sprt/worth.h), for the document of a test, beside the Elo
// that its own games say.
#pragma once

#include "server/pages/doc.h"

// Member `worth`; `row` is that of the query page_test, and `test` has its statistics already. It
// is null for a test without the bounds of an SPRT and for one without results.
void doc_add_worth(const DocContext *ctx, const json_t *row, json_t *test);
