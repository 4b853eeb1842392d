// The options that the engine of a side has, read from the engine after its build, and whether they
// permit those that the test sets.
#pragma once

#include "worker/build/speed.h"
#include "worker/task/task.h"

// Starts the engine, asks "uci" and ends it. `list` takes the list (uci_option.h). RUN_FAILED: the
// engine does not answer or cannot be started, and `log` has what was said; both are initialised by
// the caller. *too_long: the list has only a part.
RunOutcome side_options_read(const BuildContext *context, const Build *build, const TaskSide *side,
                             int64_t memory_bytes, Str *list, bool *too_long, Str *log, Error *err);
// False: the engine of the side lacks an option, or cannot take its value; `err` says which.
bool side_options_fit(const TaskSide *side, bool chess960, const char *list, Error *err);
