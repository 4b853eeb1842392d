// Installs an engine: a repository with the source as its first commit, a row, and the presets of
// the form.
#pragma once

#include "server/db/db.h"

// Makes the engine "anvil" from the source tree `source_dir`, or, if it is NULL, from the source
// that was installed with this program. Call this inside a writer's transaction. 409 if the engine
// exists.
bool engine_install(Db *db, const char *data, const char *source_dir, Error *err);
