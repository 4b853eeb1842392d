// See git_program.h.
#include "server/git/git_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server/common/visible.h"

enum { ENV_MAX = 40, MESSAGES_MAX = 600 };

// safe.directory: the data folder and this process may belong to different users.
static const char *const settings[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                       "HOME=/nonexistent",
                                       "GIT_CONFIG_NOSYSTEM=1",
                                       "GIT_CONFIG_GLOBAL=/dev/null",
                                       "GIT_TERMINAL_PROMPT=0",
                                       "LC_ALL=C",
                                       "GIT_CONFIG_COUNT=4",
                                       "GIT_CONFIG_KEY_0=safe.directory",
                                       "GIT_CONFIG_VALUE_0=*",
                                       "GIT_CONFIG_KEY_1=http.receivepack",
                                       "GIT_CONFIG_VALUE_1=false",
                                       "GIT_CONFIG_KEY_2=http.getanyfile",
                                       "GIT_CONFIG_VALUE_2=false",
                                       "GIT_CONFIG_KEY_3=gc.auto",
                                       "GIT_CONFIG_VALUE_3=0"};

typedef struct Child {
    pid_t pid;
    int in, out, messages; // our ends, -1 when closed
} Child;

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void close_end(int *fd) {
    close_fd(fd);
    *fd = -1;
}

static bool spawn(const GitCall *call, int pipes[3][2], pid_t *pid, Error *err) {
    const char *env[ENV_MAX];
    int count = 0;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        env[count++] = settings[i];
    for (int i = 0; call->env && call->env[i] && count < ENV_MAX - 1; i++)
        env[count++] = call->env[i];
    env[count] = NULL;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, pipes[0][0], 0);
    posix_spawn_file_actions_adddup2(&actions, pipes[1][1], 1);
    posix_spawn_file_actions_adddup2(&actions, pipes[2][1], 2);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    // The child gets its own process group, so that its own children can be ended with it. Its
    // signal mask is empty.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    int rc = posix_spawnp(pid, "git", &actions, &attributes, (char **)call->argv, (char **)env);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    errno = rc;
    return rc == 0 || error_errno(err, "cannot start git (is it installed?)");
}

static bool child_start(const GitCall *call, Child *child, Error *err) {
    int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}}; // [0] is the end to read from
    bool ok = true;
    for (int i = 0; ok && i < 3; i++)
        ok = pipe2(pipes[i], O_CLOEXEC) == 0 || error_errno(err, "cannot make a pipe");
    ok = ok && spawn(call, pipes, &child->pid, err);
    close_end(&pipes[0][0]);
    close_end(&pipes[1][1]);
    close_end(&pipes[2][1]);
    child->in = pipes[0][1];
    child->out = pipes[1][0];
    child->messages = pipes[2][0];
    if (ok) {
        fcntl(child->in, F_SETFL, O_NONBLOCK);
        return true;
    }
    close_end(&child->in);
    close_end(&child->out);
    close_end(&child->messages);
    return false;
}

static void feed(Child *child, const GitCall *call, size_t *fed) {
    if (*fed < call->input_size) {
        ssize_t n = write(child->in, call->input + *fed, call->input_size - *fed);
        if (n > 0)
            *fed += (size_t)n;
        else if (errno != EAGAIN && errno != EINTR)
            *fed = call->input_size; // git reads no more
    }
    if (*fed >= call->input_size)
        close_end(&child->in);
}

static void drain(int *fd, Str *to) {
    char chunk[65536];
    ssize_t n = read(*fd, chunk, sizeof chunk);
    if (n > 0)
        str_add(to, chunk, (size_t)n);
    else if (n == 0 || errno != EINTR)
        close_end(fd);
}

// Runs until both outputs are closed. False: too much time or too much output.
static bool exchange(Child *child, const GitCall *call, Str *out, Str *messages, Error *err) {
    double deadline = now_s() + call->timeout_s;
    size_t fed = 0;
    while (child->out >= 0 || child->messages >= 0) {
        double left = deadline - now_s();
        struct pollfd fds[] = {{.fd = child->in, .events = POLLOUT},
                               {.fd = child->out, .events = POLLIN},
                               {.fd = child->messages, .events = POLLIN}};
        if (left <= 0)
            return error_set(err, 504, "git_timeout", "git took over %.0f seconds",
                             call->timeout_s);
        if (poll(fds, 3, (int)(left * 1000) + 1) < 0 && errno != EINTR)
            return error_errno(err, "cannot wait for git");
        if (fds[0].revents)
            feed(child, call, &fed);
        if (fds[1].revents)
            drain(&child->out, out);
        if (fds[2].revents)
            drain(&child->messages, messages);
        if (out->overflow)
            return error_set(err, 413, "too_large", "git's answer is over %zu bytes", out->max);
    }
    return true;
}

bool git_run(const GitCall *call, Str *out, Error *err) {
    Child child;
    Str messages scope(str_release);
    str_init(&messages, MESSAGES_MAX);
    if (!child_start(call, &child, err))
        return false;
    bool ok = exchange(&child, call, out, &messages, err);
    if (!ok)
        kill(-child.pid, SIGKILL);
    close_end(&child.in);
    close_end(&child.out);
    close_end(&child.messages);
    int status = 0;
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!ok || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return ok;
    // Git quotes bytes of a request as they are.
    char shown[MESSAGES_MAX];
    size_t size = messages.size - (messages.size && messages.data[messages.size - 1] == '\n');
    visible_copy(shown, sizeof shown, messages.data, size, true);
    return error_set(err, 502, "git_failed", "git failed%s%s", size ? ": " : " without a message",
                     size ? shown : "");
}
