// Whether the options of a test fit the engines of its sides, as far as the lists of their commits
// are known (ledger/options.c). A new commit has no list yet; then machines check its options
// before they play.
#pragma once

#include <jansson.h>

#include "server/common/error.h"
#include "server/db/db.h"

// `fields` are checked and complete. False: 422 `option_missing` or `option_value`, with the field.
bool known_options_check(Db *db, int64_t engine, const char *new_sha, const char *base_sha,
                         const json_t *fields, Error *err);
