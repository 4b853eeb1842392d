// Machines whose speed in play does not fit their clock, for the documents of a test, a machine and
// a user: each with a sentence that says all of it.
#pragma once

#include "server/pages/doc.h"

// Members `misfits` and `misfit_warning`.
void doc_add_misfits(const DocContext *ctx, int64_t test, json_t *out);
// The tests from which a machine is barred, and those from which machines of a user are.
json_t *doc_misfits_of_machine(const DocContext *ctx, int64_t machine);
json_t *doc_misfits_of_user(const DocContext *ctx, int64_t user);
