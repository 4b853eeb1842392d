// What a merge needs: data of the engine. A policy is a JSON object:
//
//   {"stages": [{"preset": "STC"}, {"preset": "LTC", "alpha": 0.03}], "owners": 2, "untested": 10}
//
// stages    the tests that must be accepted, all on the trees of the test that is merged. A stage
//           names a preset, or the conditions themselves, which win over those of the preset:
//           "workload", "model", "elo0", "elo1", "tc" and "threads" must be as stated, "alpha" and
//           "beta" no larger, "games" (the cap) no smaller. {} is any accepted test
// owners    of each of these tests, so many vouched owners have pairs that count (trust.h)
// untested  so many commits may have been merged since the base of the test, and it is still merged
//           without a new one (merge.h); 0: never
//
// An engine without a policy has that of the mode of trust: with `public` the presets STC and LTC
// and two vouched owners, else one accepted test and no owners; both with 10 untested merges.
#pragma once

#include <jansson.h>

#include "server/common/error.h"
#include "server/db/db.h"

enum { POLICY_STAGES_MAX = 10, POLICY_OWNERS_MAX = 10, POLICY_UNTESTED_MAX = 100 };
enum { POLICY_BYTES_MAX = 4096 };

// The policy of an engine: {"stages", "owners", "untested"}, complete. New.
json_t *policy_of_engine(Db *db, int64_t engine);
// Its member "untested".
int policy_untested(Db *db, int64_t engine);
// What the accepted tests of the test's change lack: sentences, none if it may be merged. New.
json_t *policy_missing(Db *db, int64_t engine, int64_t test);
// The policy in words, for pages. New.
json_t *policy_words(Db *db, int64_t engine);
// Gives the engine a policy; "" takes it away. 422 says what is wrong with it.
bool policy_set(Db *db, int64_t engine, const char *text, Error *err);
