// Engines as the operator installs them: a repository with the source as first commit, a row, and
// the presets of the form.
#pragma once

#include "server/db/db.h"

// A new engine "anvil" from the source tree at `source_dir`, or, where NULL, from the one that was
// installed with this program. Call inside a transaction of a writer. 409 when it is there already.
bool engine_install(Db *db, const char *data, const char *source_dir, Error *err);
