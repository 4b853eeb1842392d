// What people did to the verdict of a test: they excluded batches before it or after it, or they
// reopened the test. An exclusion never reopens a test by itself, so the verdict of a finished one
// may no longer be what its batches make. See server/DESIGN.md, "Exclusions and turned verdicts".
#pragma once

#include <jansson.h>

#include "server/common/error.h"
#include "server/db/turn.h"

// Whether the counted batches still make the verdict of a test. True also if it has none: it is
// open, or was stopped, or failed.
bool verdict_stands(Db *db, int64_t test);

// Null if nothing was done to it, else {"turned", "reopened", "excluded_before", "excluded_after",
// "included_after", "result_now", "lines", "text"} of API.md. `turned`: the verdict does not stand,
// batches were excluded when it came, or the test was reopened. Reads all batches of the test. New.
json_t *verdict_mark(Db *db, int64_t test);
// 409 `verdict_turned`: the verdict of the test was turned. `known`: the caller has read that.
bool verdict_unturned(Db *db, int64_t test, bool known, Error *err);

// The finished tests of which batches were excluded or included after the verdict, since a time:
// [{"id", "title", "result", "result_now", "stands", "merged", "text"}]. New.
json_t *verdicts_touched(Db *db, double since);
