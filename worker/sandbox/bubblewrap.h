// Level 2 of sandbox.h on this operating system.
#pragma once

#include "worker/sandbox/view.h"

// How many processes and threads our user has at the moment.
int os_user_processes(void);
// `env` is a list as in SandboxView; the view's own entries follow it.
void os_sandbox_prefix(const OsProfile *profile, const SandboxView *view, const char *const *env,
                       Argv *argv);
