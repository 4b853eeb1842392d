// Documents about whom the server believes: see server/ledger/trust.h.
#pragma once

#include "server/pages/doc.h"

// The level of a machine's owner: {"level": "vouched", "words", "vouch"}. `vouch` is the click of
// a maintainer, {"user", "created", "reason"}, or null. New; NULL: there is no such machine.
json_t *doc_trust_of_machine(const DocContext *ctx, int64_t machine);
// Why no test can end, in words: trust is public, and no machine is here whose owner is vouched
// for. Null: they can. New.
json_t *doc_unvouched(const DocContext *ctx);
// How many counted units of a test are of owners of each level, and of the author: {"vouched",
// "recorded", "unproven", "author", "waits"}. `waits`: what a verdict waits for, in words, or null.
// New.
json_t *doc_shares(const DocContext *ctx, int64_t test);
