// Runs a probe inside the sandbox. It tries to read and write files, to reach the network and to
// see other processes, and reports what it could do.
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/common/file.h"
#include "worker/sandbox/job.h"
#include "worker/selftest/parts.h"

enum { PROBE_LIMIT_S = 20 };

// A listener on 127.0.0.1, to which the probe tries to connect.
static int listen_somewhere(int *port) {
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) < 0 || listen(fd, 1) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &size) < 0)
        *port = 1;
    else
        *port = ntohs(at.sin_port);
    return fd;
}

// `secret`: a file outside the sandbox's folder, as a key in a home folder is.
static bool ask(const SelfTest *test, const Build *probe, const char *secret, JobResult *result,
                Error *err) {
    scope(argv_release) Argv argv = {0};
    OsLimits limits;
    int port, listener = listen_somewhere(&port);
    build_command(&test->context, probe, 0, &argv, &limits);
    argv_add(&argv, secret);
    argv_printf(&argv, "%d", port);
    argv_printf(&argv, "%d", (int)getpid());
    JobSpec job = {(const char *const *)argv.items, PROBE_LIMIT_S, test->context.cancel, &limits};
    bool ran = job_run(&job, result, err);
    close_fd(&listener);
    if (!ran)
        return false;
    return (result->end == JOB_ENDED && result->status == 0) ||
           error_set(err, 0, "probe", "the probe ended with status %d: %.200s", result->status,
                     result->output.data);
}

// Without a sandbox (--no-sandbox), the probe can do all of it, and the row is only a note.
static void judge(SelfTest *test, const char *said, const char *word, const char *name) {
    char open_line[32];
    snprintf(open_line, sizeof open_line, "%s 1", word);
    bool open = strstr(said, open_line) != NULL;
    RowKind kind = !open ? ROW_OK : test->worker->sandbox.level ? ROW_FAILED : ROW_NOTE;
    selftest_row(test, kind, name, "%s", open ? "YES" : "no");
}

static bool look_around(SelfTest *test, const Build *probe, Error *err) {
    scope(job_result_release) JobResult result = {0};
    char *secret scope(free_ptr) = xasprintf("%s/secret", test->worker->store.root);
    if (!file_write_durable(secret, "key\n", 4, err) || !ask(test, probe, secret, &result, err))
        return false;
    judge(test, result.output.data, "reads", "engines read your files");
    judge(test, result.output.data, "writes", "write outside their folder");
    judge(test, result.output.data, "network", "reach the network");
    judge(test, result.output.data, "processes", "see other processes");
    return true;
}

void selftest_confinement(SelfTest *test) {
    Error err = {0};
    Str log;
    str_init(&log, 1 << 16);
    scope(build_release) Build probe = {0};
    SelfTestSource source = {.name = "probe.c",
                             .text = selftest_probe,
                             .command = "cc -w probe.c -o probe",
                             .binary = "probe"};
    selftest_begin(test, "confinement");
    if (!selftest_build(test, &source, &probe, &log, &err) || !look_around(test, &probe, &err))
        selftest_row(test, ROW_FAILED, "confinement", "%s %.200s", err.message, log.data);
    str_release(&log);
}
