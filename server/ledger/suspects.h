// Machines that differ from the others over all tests of 30 days, with what they are suspected of.
// Nothing follows from it by itself: an event, a page, and a maintainer who looks. Reads only.
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "server/db/db.h"

enum { SUSPECT_DAYS = 30 };

// New array, the worst machine first, at most 100: {"id", "name", "user", "blocked", "evidence"},
// where evidence is an array of {"kind", "count", "of", "expected", "text"}, the strongest first.
// `of`: games, moves or batches; null for facts that need no comparison. `worker` 0: all machines.
json_t *suspects_list(Db *db, double now, int64_t worker);
// The same of one machine in sentences. New.
char *suspects_evidence(Db *db, double now, int64_t worker);
