// Process 1 of a sandbox with namespaces. It sets the limit of processes, restricts access to the
// given files, starts the program, and reaps orphans. It ends when the program ends, with the same
// status; then the kernel kills all other processes of the sandbox. It is a separate program,
// embedded in the worker (inside.h), so that its memory holds nothing of the worker or of
// bubblewrap that the program could read. It forwards no signals: the worker sends only SIGKILL to
// a sandbox, which cannot be caught.
//
// usage: init LANDLOCK PROCESSES [r/PATH|w/PATH]… -- PROGRAM [ARGUMENT]…
// LANDLOCK is the version of Landlock (0: none), PROCESSES the limit of processes (0: no limit).
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/os/landlock.h"

enum { GRANTS_MAX = 16, END_CANNOT = 127, END_SIGNAL = 128 };

static int cannot(const char *what) {
    fprintf(stderr, "sandbox: cannot %s: %s\n", what, strerror(errno));
    return END_CANNOT;
}

// Returns the position of PROGRAM in `words`; NULL: there is none.
static char **read_grants(char **words, OsGrant grants[GRANTS_MAX]) {
    int count = 0;
    for (; *words && strcmp(*words, "--") != 0 && count < GRANTS_MAX - 1; words++)
        grants[count++] = (OsGrant){*words + 1, **words == 'w'};
    grants[count] = (OsGrant){NULL, false};
    return *words && words[1] && strcmp(*words, "--") == 0 ? words + 1 : NULL;
}

// The program makes no rules of Landlock and no filters of its own: they hold memory of the kernel
// that the worker cannot count. The worker's own filter already refuses prctl(PR_SET_SECCOMP).
static bool refuse_more_rules(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

static int run(int version, const OsGrant *grants, char **program) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        (version > 0 && !os_landlock_enter(version, grants)))
        return cannot("restrict access to files");
    if (!refuse_more_rules())
        return cannot("restrict calls");
    execvp(*program, program);
    return cannot(*program);
}

static int end_of(int status) {
    return WIFSIGNALED(status) ? END_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

// Closes all descriptors first, so that the worker notices when the program closes its pipes.
static int reap_until(pid_t program) {
    int status = 0;
    close_range(0, ~0U, 0);
    for (;;) {
        pid_t pid = waitpid(-1, &status, 0);
        if (pid == program || (pid < 0 && errno != EINTR))
            return pid < 0 ? END_CANNOT : end_of(status);
    }
}

int main(int argc, char **argv) {
    OsGrant grants[GRANTS_MAX];
    char **program = argc > 3 ? read_grants(argv + 3, grants) : NULL;
    if (!program)
        return errno = EINVAL, cannot("begin");
    rlim_t processes = (rlim_t)strtol(argv[2], NULL, 10);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (processes && setrlimit(RLIMIT_NPROC, &(struct rlimit){processes, processes}) < 0)
        return cannot("limit processes");
    pid_t pid = fork();
    if (pid < 0)
        return cannot("start a process");
    if (pid == 0)
        _exit(run((int)strtol(argv[1], NULL, 10), grants, program));
    return reap_until(pid);
}
