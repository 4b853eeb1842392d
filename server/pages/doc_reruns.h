// Batches of a test that were played again on other machines (server/ledger/rerun.h), in words.
#pragma once

#include "server/pages/doc.h"

// Members `reruns` and `rerun_warning`; null and null if the games of the test do not repeat.
void doc_add_reruns(const DocContext *ctx, int64_t test, json_t *out);
