// See keeper.h. The keeper is forked from a program with threads, so it uses async-signal-safe
// functions only. It has no limits and no open files. The sandbox prevents the program from sending
// it signals or changing it in another way.
#include "worker/os/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// Reaps orphans until the program ends or SIGTERM arrives. The program itself is not reaped, so
// that its process group cannot become the group of other processes.
static void wait_for_end(pid_t program) {
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGTERM);
    for (;;) {
        siginfo_t ended = {0};
        while (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid > 0) {
            if (ended.si_pid == program)
                return;
            waitpid(ended.si_pid, NULL, 0);
            ended = (siginfo_t){0};
        }
        if (sigwaitinfo(&awaited, NULL) == SIGTERM)
            return;
    }
}

// Our session has no processes but those of the program, so its groups may be killed as a whole. A
// process that keeps forking cannot escape from that.
static void kill_one(pid_t pid) {
    pid_t group = getpgid(pid);
    if (group > 0 && group != getpgrp())
        kill(-group, SIGKILL);
    kill(pid, SIGKILL);
}

// Kills our children; none of them is reaped meanwhile. Returns how many there were.
static int kill_children(void) {
    char chunk[4096];
    int count = 0, pid = 0, fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && (n = read(fd, chunk, sizeof chunk)) > 0;)
        for (ssize_t i = 0; i < n; i++) {
            if (chunk[i] != ' ') {
                pid = 10 * pid + (chunk[i] - '0');
                continue;
            }
            kill_one(pid);
            count++;
            pid = 0;
        }
    if (fd >= 0)
        close(fd);
    return count;
}

// Kills and reaps all descendants. When a process ends, its children become ours: therefore there
// are rounds. Returns the status of the program.
static int end_all(pid_t program) {
    int status = 0, outcome = 0;
    for (;;) {
        // If there is no child to kill, one may have become ours since then: no waiting for it.
        int killed = kill_children();
        pid_t pid = waitpid(-1, &status, killed ? 0 : WNOHANG);
        if (pid == program)
            outcome = status;
        if (pid < 0 && errno != EINTR)
            return outcome;
    }
}

_Noreturn static void end_like(int status) {
    sigset_t all;
    if (WIFSIGNALED(status)) {
        prctl(PR_SET_DUMPABLE, 0); // no core file
        signal(WTERMSIG(status), SIG_DFL);
        kill(getpid(), WTERMSIG(status));
        sigfillset(&all);
        sigprocmask(SIG_UNBLOCK, &all, NULL);
    }
    _exit(WEXITSTATUS(status));
}

// The program begins when the keeper has closed its descriptors. Otherwise a short program could
// end before the worker, which waits for the end of a pipe, knows that it was started.
static void await_keeper(pid_t keeper) {
    sigset_t begin;
    sigemptyset(&begin);
    sigaddset(&begin, SIGUSR1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == keeper)
        sigwaitinfo(&begin, NULL);
}

pid_t os_keep(pid_t worker) {
    sigset_t all;
    pid_t keeper = getpid();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    prctl(PR_SET_NAME, "patchmate-keep");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
        return -1;
    if (getppid() != worker)
        _exit(0); // the worker had ended before PR_SET_PDEATHSIG
    pid_t program = _Fork();
    if (program < 0)
        return -1;
    if (program == 0)
        return await_keeper(keeper), keeper;
    close_range(0, ~0U, 0);
    kill(program, SIGUSR1);
    wait_for_end(program);
    end_like(end_all(program));
}
