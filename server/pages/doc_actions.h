// What the viewer may do to a test or a machine, and what a maintainer should know before
// approving. For the doc_*.c that show tests and machines.
#pragma once

#include "server/pages/doc.h"

// {"approve": {"ok": true} | {"ok": false, "why": "…"}, …}: the actions that fit the test's state.
// New.
json_t *doc_actions(const DocContext *ctx, int64_t test);
// The test whose approval covers the base; null if the base is in the baseline's history. New.
json_t *doc_base_test(Db *db, int64_t engine, const char *base, bool in_baseline);
// Sentences; new. `row` has the test's member base_test.
json_t *doc_warnings(const json_t *row, const json_t *failures);
// The actions that fit the machine's state: "block" or "unblock", and "vouch" or "unvouch";
// and "retest", unless it is blocked.
json_t *doc_machine_actions(const DocContext *ctx, const json_t *machine, bool vouched);
