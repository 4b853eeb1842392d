// Who the worker is on this machine. Another system is another os_user_*.c.
#pragma once

#include <stdbool.h>

#include "server/common/error.h"

// The account that a worker started as root becomes where it exists; else "nobody".
#define OS_USER "patchmate"

// Root becomes an unprivileged user for good, because limits on processes do not hold for root.
// `folder`, absolute, is made and handed to that user before; it must be empty or a worker's own.
// From then on it is HOME, and / the working folder. Does nothing for anyone but root. False: in
// words that say what to do.
bool os_become_user(const char *folder, Error *err);
