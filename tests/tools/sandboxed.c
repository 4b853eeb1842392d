// Runs a program in the worker's own sandbox: `sandboxed LEVEL FOLDER PROGRAM [ARGUMENT…]`. FOLDER
// is all that it sees beside the system, and writable; PROGRAM is a path in it. For tests that give
// the engines of `match` the confinement that they have in a worker, with its keeper, but without
// its watch over limits.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "worker/os/keeper.h"
#include "worker/os/sandbox_profile.h"
#include "worker/sandbox/sandbox.h"

int main(int argc, char **argv) {
    static Sandbox sandbox;
    Error err;
    OsLimits limits = {0};
    Argv command = {0};
    int level = argc < 4 ? 0 : (int)strtol(argv[1], NULL, 10);
    if (level < 1 || !sandbox_detect(&sandbox, level, false, &err) || sandbox.level != level) {
        fprintf(stderr, "sandboxed: %s\n", level < 1 ? "LEVEL FOLDER PROGRAM …" : "not to be had");
        return 2;
    }
    SandboxView view = {.folder = argv[2], .writable = true, .plays = true, .tmp_bytes = 16 << 20};
    const char *folder = sandbox_prefix(&sandbox, &view, &command, &limits);
    argv_printf(&command, "%s/%s", folder, argv[3]);
    argv_add_all(&command, (const char *const *)argv + 4);
    if (os_keep(getppid()) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return 127;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (!limits.profile || os_profile_enter(&limits))
        execvp(command.items[0], command.items);
    perror(command.items[0]);
    argv_release(&command);
    return 127;
}
