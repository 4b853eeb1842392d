// What the viewer may do to a test, and what whoever approves it should know first. For doc_test.c.
#pragma once

#include "server/pages/doc.h"

// {"approve": {"ok": true} | {"ok": false, "why": "…"}, …}: what fits the test's state. New.
json_t *doc_actions(Request *req, const json_t *row);
// Sentences; new.
json_t *doc_warnings(const json_t *row, const json_t *failures);
// What may be done to a machine: "block" or "unblock".
json_t *doc_machine_actions(Request *req, const json_t *machine);
