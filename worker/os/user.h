// The user as which the worker runs. To support another system, write another user_*.c.
#pragma once

#include <stdbool.h>

#include "server/common/error.h"

// A worker that is started as root becomes this user if it exists, else "nobody".
#define OS_USER "patchmate"

// If the worker runs as root, it becomes an unprivileged user permanently, because the limits on
// processes do not apply to root. Before that it creates `folder` (an absolute path) and changes
// its owner to that user; the folder must be empty or the cache of a worker. Afterwards HOME is
// `folder` and the working folder is /. Another user than root stays the same. On false, `err` says
// what the user can do. In both cases it makes a control group where it may (own_group.h), because
// root has to do that before.
bool os_become_user(const char *folder, Error *err);
