// How much the submissions of one person may add to the disk in a day (setting
// `submit_mib_per_day`). What a submission wrote is counted by the hour, and stays counted whatever
// becomes of its test. Nets have a limit of their own (net_upload.h).
#pragma once

#include <jansson.h>

#include "server/submit/caller.h"

// Whether the viewer may add so many bytes. 429 `too_much_submitted`, with the hour from which they
// fit; 422 `patch_too_large` if they never do.
bool quota_check(const Caller *caller, int64_t bytes, Error *err);
// Counts them. In the turn.
bool quota_count(const Caller *caller, int64_t bytes, Error *err);
// {"bytes", "bytes_max"}: what a user has added within a day, and the limit; new.
json_t *quota_of(Db *db, int64_t user, double now);
