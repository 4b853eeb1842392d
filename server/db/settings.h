// The operator's settings (table `settings`). `server set` writes them, and a running server sees a
// change at once. A setting that is not set, or that has a value of the wrong kind, is its
// fallback.
#pragma once

#include "server/db/db.h"

char *setting_text(Db *db, const char *name); // NULL: not set
bool setting_is(Db *db, const char *name, const char *value);
int64_t setting_whole(Db *db, const char *name, int64_t low, int64_t high, int64_t fallback);
double setting_real(Db *db, const char *name, double low, double high, double fallback);
