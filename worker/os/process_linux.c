// Processes on Linux: fork, exec and the limits of a child. Chess and UCI are not known here.
#include "worker/os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server/common/str.h"
#include "worker/os/guard.h"
#include "worker/os/keeper.h"
#include "worker/os/sandbox_profile.h"
#include "worker/os/watchdog.h"

int64_t os_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

typedef struct Pipes {
    int input[2], output[2], errors[2];
    int status[2]; // sends errno if exec fails; exec closes it on success
} Pipes;

static void close_both(int fds[2]) {
    close_fd(&fds[0]);
    close_fd(&fds[1]);
}

static void pipes_close(Pipes *pipes) {
    close_both(pipes->input);
    close_both(pipes->output);
    close_both(pipes->errors);
    close_both(pipes->status);
}

static bool pipes_open(Pipes *pipes, bool errors) {
    *pipes = (Pipes){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    return pipe2(pipes->input, O_CLOEXEC) == 0 && pipe2(pipes->output, O_CLOEXEC) == 0 &&
           pipe2(pipes->status, O_CLOEXEC) == 0 &&
           (!errors || pipe2(pipes->errors, O_CLOEXEC) == 0);
}

// Moves a descriptor of the child away from 0 to 2, because dup2 could overwrite it there.
static int out_of_the_way(int fd) {
    return fd > STDERR_FILENO ? fd : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

static bool child_redirect(const Pipes *pipes, OsErrors kind) {
    int input = out_of_the_way(pipes->input[0]), output = out_of_the_way(pipes->output[1]);
    int errors = kind == OS_ERRORS_PIPE          ? out_of_the_way(pipes->errors[1])
                 : kind == OS_ERRORS_WITH_OUTPUT ? output
                                                 : open("/dev/null", O_WRONLY | O_CLOEXEC);
    errors = out_of_the_way(errors);
    return input >= 0 && output >= 0 && errors >= 0 && dup2(input, STDIN_FILENO) >= 0 &&
           dup2(output, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0;
}

static void set_limit(int resource, int64_t value) {
    if (value > 0) // fails, without harm, if a lower limit is already set
        setrlimit(resource, &(struct rlimit){(rlim_t)value, (rlim_t)value});
}

enum { DESCRIPTORS_MAX = 1024, KEEPERS = 1 };

static bool child_confine(const OsLimits *limits) {
    if (!limits)
        return true;
    set_limit(RLIMIT_RTTIME, limits->confined ? os_guard_mark() : 0);
    set_limit(RLIMIT_FSIZE, limits->file_bytes);
    set_limit(RLIMIT_CPU, limits->cpu_s);
    set_limit(RLIMIT_NPROC, limits->user_processes ? limits->user_processes + KEEPERS : 0);
    if (limits->profile && !os_profile_enter(limits))
        return false;
    set_limit(RLIMIT_NOFILE, DESCRIPTORS_MAX); // last, because more descriptors may still be open
    return true;
}

// A child has no descriptors except its pipes and those that os_profile_enter adds for its command.
// Any other descriptor of the worker, its libraries or its parent could be used inside the sandbox.
static void close_others_on_exec(void) {
    if (close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    enum { MOST = 1 << 20 };
    long most = sysconf(_SC_OPEN_MAX); // before Linux 5.11, where no sandbox is available
    for (int fd = STDERR_FILENO + 1; fd < (most > 0 && most < MOST ? most : MOST); fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static bool is_kept(const OsSpawnSpec *spec) {
    return spec->limits && spec->limits->confined;
}

// A confined child never has the environment of the user who runs the worker.
static char **child_environment(const OsLimits *limits) {
    static const char *const bare[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp",
                                       "LC_ALL=C.UTF-8", NULL};
    return limits && limits->confined ? (char **)bare : environ;
}

// Uses async-signal-safe functions only, because another thread may have held a lock during fork.
static void child_exec(const Pipes *pipes, const OsSpawnSpec *spec, const OsJobGroup *group,
                       pid_t parent) {
    int report = fcntl(pipes->status[1], F_DUPFD_CLOEXEC, OS_INIT_FD + 1);
    sigset_t none;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); // crashes must not fill the disk
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    if (is_kept(spec))
        parent = os_keep(parent);
    os_job_group_join(group);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close_others_on_exec();
    if (getppid() == parent && child_redirect(pipes, spec->errors) &&
        (!spec->directory || chdir(spec->directory) == 0) && child_confine(spec->limits)) {
        pthread_sigmask(SIG_SETMASK, &none, NULL);
        execvpe(spec->argv[0], (char *const *)spec->argv, child_environment(spec->limits));
    }
    int problem = errno;
    while (write(report, &problem, sizeof problem) < 0 && errno == EINTR)
        ;
    _exit(127);
}

// Waits for exec. Returns 0 if it succeeded, else the errno of the child.
static int exec_outcome(int status_fd) {
    int problem = 0;
    ssize_t got;
    do
        got = read(status_fd, &problem, sizeof problem);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof problem ? problem : 0;
}

static void take(int *to, int *from, int flags) {
    *to = *from;
    *from = -1;
    fcntl(*to, F_SETFL, O_NONBLOCK | flags);
}

bool os_spawn(OsProcess *process, const OsSpawnSpec *spec, Error *err) {
    *process = (OsProcess){0};
    scope(pipes_close) Pipes pipes;
    if (!pipes_open(&pipes, spec->errors == OS_ERRORS_PIPE))
        return error_errno(err, "cannot make pipes for %s", spec->argv[0]);
    OsJobGroup group scope(os_job_group_remove) =
        is_kept(spec) ? os_job_group_make(spec->limits->memory_bytes) : (OsJobGroup){0};
    os_watch_lock();
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        child_exec(&pipes, spec, &group, parent);
    OsWatch *watch = pid > 0 ? os_watch_add(pid, spec->limits, &group) : NULL;
    os_watch_unlock();
    if (pid < 0)
        return error_errno(err, "cannot start %s", spec->argv[0]);
    close_fd(&pipes.status[1]);
    pipes.status[1] = -1;
    int problem = exec_outcome(pipes.status[0]);
    if (problem) {
        os_watch_end(watch);
        waitpid(pid, NULL, 0);
        os_watch_remove(watch);
        return error_set(err, 0, "cannot_start", "cannot start %s%s%s: %s", spec->argv[0],
                         spec->directory ? " in " : "", spec->directory ? spec->directory : "",
                         strerror(problem));
    }
    process->pid = pid;
    process->group = group;
    group = (OsJobGroup){0};
    process->kept = is_kept(spec);
    process->watch = watch;
    process->pidfd = pidfd_open(pid, 0);
    take(&process->input, &pipes.input[1], O_WRONLY);
    take(&process->output, &pipes.output[0], O_RDONLY);
    process->errors = -1;
    if (spec->errors == OS_ERRORS_PIPE)
        take(&process->errors, &pipes.errors[0], O_RDONLY);
    return true;
}

const char *os_limit_exceeded(const OsProcess *process) {
    return process->watch ? os_watch_verdict(process->watch) : NULL;
}

bool os_ended(const OsProcess *process, char *out, size_t size) {
    siginfo_t info = {0};
    if (!process->pid ||
        waitid(P_PIDFD, (id_t)process->pidfd, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
        !info.si_pid)
        return false;
    if (info.si_code == CLD_EXITED)
        snprintf(out, size, "exit status %d", info.si_status);
    else
        snprintf(out, size, "signal %d (%s)", info.si_status, strsignal(info.si_status));
    return true;
}

// Kills the group before its leader is reaped: until then no other process can get its id.
static void end_processes(const OsProcess *process) {
    if (process->kept) {
        os_job_group_kill(&process->group);
        kill(process->pid, SIGTERM);
    } else {
        kill(-process->pid, SIGKILL);
        kill(process->pid, SIGKILL);
    }
    while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

void os_kill(OsProcess *process) {
    if (!process->pid)
        return;
    os_watch_end(process->watch);
    end_processes(process);
    os_watch_remove(process->watch);
    os_job_group_remove(&process->group);
    os_watch_sweep();
    close_fd(&process->pidfd);
    close_fd(&process->input);
    close_fd(&process->output);
    if (process->errors >= 0)
        close_fd(&process->errors);
    *process = (OsProcess){0};
}

bool os_wait(const OsProcess *process, int timeout_ms) {
    struct pollfd ended = {.fd = process->pidfd, .events = POLLIN};
    return poll(&ended, 1, timeout_ms) > 0;
}
