// What people do to tests, results and machines in one step: the right to it (rights.h), then the
// ledger. All in the turn.
#pragma once

#include "server/ledger/ledger.h"
#include "server/submit/caller.h"

bool submit_stop(const Caller *caller, int64_t test, const char *reason, Error *err);
bool submit_pause(const Caller *caller, int64_t test, Error *err);
// `side`: "new" or "base".
bool submit_correct_bench(const Caller *caller, int64_t test, const char *side, int64_t nodes,
                          Error *err);
// The viewer becomes the user. `prepared`: ledger_exclude_prepare(), ledger_include_prepare().
bool submit_exclude(const Caller *caller, const Exclusion *exclusion, Recount *prepared,
                    Excluded *changed, Error *err);
bool submit_include(const Caller *caller, const Inclusion *inclusion, Recount *prepared,
                    Excluded *changed, Error *err);
bool submit_readmit(const Caller *caller, int64_t test, int64_t worker, Error *err);
bool submit_block(const Caller *caller, int64_t machine, bool block, const char *reason,
                  Error *err);
bool submit_retest(const Caller *caller, int64_t machine, const char *reason, Error *err);
// For the owner of the machine.
bool submit_vouch(const Caller *caller, int64_t machine, bool vouch, const char *reason,
                  Error *err);
