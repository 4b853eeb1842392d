// Level 2 of the sandbox (sandbox.h) on this operating system.
#pragma once

#include "worker/sandbox/view.h"

// The number of processes and threads that our user has now.
int os_user_processes(void);
// `env` is a list as in SandboxView. The entries of the view are added after it.
void os_sandbox_prefix(const OsProfile *profile, const SandboxView *view, const char *const *env,
                       Argv *argv);
