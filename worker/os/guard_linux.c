// See guard.h. The mark is a random value of the limit RLIMIT_RTTIME, which restricts real-time
// processes only; strangers' programs never are real-time processes. Children inherit the limit,
// the filter (seccomp_linux.c) refuses to change it, and other processes of the same user can read
// it. No process id is stored, because the system may reuse it for another process. The guard is
// forked from a program with threads, so it uses async-signal-safe functions only.
#include "worker/os/guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/log.h"
#include "server/common/str.h"
#include "worker/os/own_group.h"

enum { MARKED_MAX = 1 << 14, ROUNDS_MAX = 500, ROUND_NS = 10000000 };

static struct {
    int64_t mark;
    int pid;
} guard;

int64_t os_guard_mark(void) {
    return guard.mark;
}

int os_guard_pid(void) {
    return guard.pid;
}

// ---- processes with a mark ----------------------------------------------------------------------

typedef struct Found {
    int count;
    struct {
        int pid, group;
    } marked[MARKED_MAX];
} Found;

static int64_t number_at(const char *text) {
    int64_t number = 0;
    while (*text == ' ')
        text++;
    for (; *text >= '0' && *text <= '9' && number < INT64_MAX / 10 - 1; text++)
        number = 10 * number + (*text - '0');
    return number;
}

// Reads a short file of /proc/PID; NULL if it does not exist.
static const char *read_at(int proc, const char *pid, const char *name, char *text, size_t size) {
    char path[64];
    size_t length = strlen(pid), rest = strlen(name) + 1;
    if (length + 1 + rest > sizeof path)
        return NULL;
    memcpy(path, pid, length);
    path[length] = '/';
    memcpy(path + length + 1, name, rest);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0 ? text : NULL;
}

static bool is_marked(int proc, const char *pid, int64_t mark) {
    static const char name[] = "Max realtime timeout";
    char text[4096];
    const char *limits = read_at(proc, pid, "limits", text, sizeof text);
    const char *line = limits ? strstr(limits, name) : NULL;
    return line && number_at(line + sizeof name - 1) == mark;
}

// The process group of a process; 0: the process has ended.
static int group_of(int proc, const char *pid) {
    char text[1024];
    const char *stat = read_at(proc, pid, "stat", text, sizeof text);
    const char *state = stat ? strrchr(stat, ')') : NULL; // the name before it may contain ')'
    if (!state || strlen(state) < 4 || state[2] == 'Z' || state[2] == 'X')
        return 0;
    const char *parent = state + 4, *group = strchr(parent, ' ');
    return group ? (int)number_at(group) : 0;
}

static void note(Found *found, int proc, const char *pid, int64_t mark) {
    struct stat st;
    int group;
    if (pid[strspn(pid, "0123456789")] || fstatat(proc, pid, &st, 0) < 0 ||
        st.st_uid != geteuid() || (group = group_of(proc, pid)) <= 0 ||
        !is_marked(proc, pid, mark) || found->count == MARKED_MAX)
        return;
    found->marked[found->count].pid = (int)number_at(pid);
    found->marked[found->count++].group = group;
}

static void find(Found *found, int proc, int64_t mark) {
    _Alignas(struct dirent64) char chunk[8192];
    found->count = 0;
    lseek(proc, 0, SEEK_SET);
    for (ssize_t n; (n = getdents64(proc, chunk, sizeof chunk)) > 0;)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const struct dirent64 *)(chunk + at);
            note(found, proc, entry->d_name, mark);
            at += entry->d_reclen;
        }
}

// ---- killing them -------------------------------------------------------------------------------

static void write_number(char text[16], int number) {
    char digits[16];
    int count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    for (int i = 0; i < count; i++)
        text[i] = digits[count - 1 - i];
    text[count] = 0;
}

// Opens a pidfd first and then checks the mark again, because the process id may belong to another
// process by now. The whole group is killed at once, so that a process that keeps forking cannot
// escape. Other programs cannot be in the group, because the keeper began a session (keeper.h).
static void end_one(const Found *found, int i, int proc, int64_t mark) {
    char name[16];
    int pid = found->marked[i].pid, group = found->marked[i].group;
    write_number(name, pid);
    int held = pidfd_open(pid, 0);
    if (held < 0)
        return;
    if (is_marked(proc, name, mark)) {
        kill(-group, SIGKILL);
        pidfd_send_signal(held, SIGKILL, NULL, 0);
    }
    close(held);
}

// Kills all processes with the mark. Returns how many there were at first.
static int end_marked(int64_t mark) {
    static Found found; // static, as it is large; one thread uses it: the worker's start, the guard
    int first = 0, proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int round = 0; proc >= 0 && round < ROUNDS_MAX; round++) {
        find(&found, proc, mark);
        first = round ? first : found.count;
        if (!found.count)
            break;
        for (int i = 0; i < found.count; i++)
            end_one(&found, i, proc, mark);
        nanosleep(&(struct timespec){0, ROUND_NS}, NULL);
    }
    if (proc >= 0)
        close(proc);
    return first;
}

// ---- the guard ----------------------------------------------------------------------------------

// The main function of the guard. It has its own session and name, ignores signals and has no other
// open files, so that signals to the worker's terminal, group or name do not end it.
_Noreturn static void stand_guard(int worker) {
    setsid();
    prctl(PR_SET_NAME, "patchmate-guard");
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_IGN);
    int groups = fcntl(os_own_group_folder(), F_DUPFD, STDERR_FILENO + 1); // -1: none
    dup2(worker, STDIN_FILENO);
    groups = groups < 0 ? -1 : dup2(groups, STDOUT_FILENO);
    close_range(groups < 0 ? STDOUT_FILENO : STDERR_FILENO, ~0U, 0);
    struct pollfd gone = {.fd = STDIN_FILENO, .events = POLLIN};
    while (poll(&gone, 1, -1) < 0 && errno == EINTR)
        ;
    os_own_group_end_jobs(groups);
    end_marked(guard.mark);
    _exit(0);
}

// If a limit is already set, the mark is below it, because the limit cannot be raised.
static int64_t random_mark(void) {
    uint64_t number = 0;
    struct rlimit limit;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        fatal("cannot get random numbers");
    int64_t mark = (int64_t)(number >> 3 | UINT64_C(1) << 60);
    if (getrlimit(RLIMIT_RTTIME, &limit) < 0 || limit.rlim_max > INT64_MAX)
        return mark;
    return (int64_t)limit.rlim_max / 2 + mark % ((int64_t)limit.rlim_max / 2 + 1);
}

static void end_earlier(const char *mark_path, const char *group_path) {
    Error ignored;
    char *text scope(free_ptr) = file_read(mark_path, 64, NULL, &ignored);
    char *group scope(free_ptr) = file_read(group_path, 4096, NULL, &ignored);
    int64_t mark = text ? number_at(text) : 0;
    int count = mark ? end_marked(mark) : 0;
    int jobs = group ? os_own_group_end_earlier(group) : 0;
    if (count)
        log_warn("killed %d processes of sandboxes that an earlier worker left running", count);
    if (jobs)
        log_warn("killed the processes in %d control groups of an earlier worker", jobs);
}

bool os_guard_start(const char *folder, Error *err) {
    char *path scope(free_ptr) = xasprintf("%s/mark", folder);
    char *group_path scope(free_ptr) = xasprintf("%s/group", folder);
    const char *group = os_own_group_path();
    end_earlier(path, group_path);
    guard.mark = random_mark();
    char *text scope(free_ptr) = xasprintf("%" PRId64 "\n", guard.mark);
    if (!file_write_durable(path, text, strlen(text), err) ||
        !file_write_durable(group_path, group, strlen(group), err))
        return false;
    int worker scope(close_fd) = pidfd_open(getpid(), 0);
    pid_t pid = worker < 0 ? -1 : fork();
    if (pid == 0)
        stand_guard(worker);
    guard.pid = pid;
    return pid > 0 || error_errno(err, "cannot start a guard");
}
