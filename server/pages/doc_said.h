// What the sides of a test said about their moves, for the document of a test.
#pragma once

#include "server/pages/doc.h"

// Members `said` and `said_warning`.
void doc_add_said(const DocContext *ctx, int64_t test, json_t *out);
