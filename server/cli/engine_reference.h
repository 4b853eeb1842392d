// The reference speed of an engine: nodes/s of one slot of the machine for which time controls are
// meant. A worker measures it in its sandbox, with all slots busy, as it does for every task.
#pragma once

#include "server/common/error.h"
#include "server/db/db.h"

typedef struct Reference {
    double speed;  // nodes/s
    char *machine; // which machine measured it, in words; free_ptr
} Reference;

void reference_release(Reference *reference);
// What machine `worker` measured for its last tasks with commit `sha`: the median of up to nine.
// Error "not_found": it has had no such task.
bool reference_measured(Db *db, int64_t engine, const char *sha, int64_t worker, Reference *out,
                        Error *err);
// A speed that was measured elsewhere, and the machine, in words of one line.
bool reference_given(const char *speed, const char *machine, Reference *out, Error *err);
