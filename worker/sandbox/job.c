// See job.h.
#include "worker/sandbox/job.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "worker/os/host.h"
#include "worker/os/process.h"

enum { TICK_MS = 100 }; // a cancellation is noticed within this time

static void trim_tail(Str *output) {
    if (output->size <= JOB_OUTPUT_MAX)
        return;
    size_t drop = output->size - JOB_OUTPUT_MAX;
    memmove(output->data, output->data + drop, JOB_OUTPUT_MAX + 1);
    output->size = JOB_OUTPUT_MAX;
    output->overflow = true;
}

// Keeps the end of the output: when it has nearly twice the maximum, the older half is removed.
static void keep_tail(Str *output, const char *bytes, size_t size) {
    str_add(output, bytes, size);
    if (output->size > 2 * (size_t)JOB_OUTPUT_MAX - 4096)
        trim_tail(output);
}

// Reads all available bytes; false at the end of the stream.
static bool drain(int fd, Str *output) {
    char chunk[4096];
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n > 0)
            keep_tail(output, chunk, (size_t)n);
        else
            return n < 0 && (errno == EAGAIN || errno == EINTR);
    }
}

static bool cancelled(const JobSpec *spec) {
    return spec->cancel && atomic_load(spec->cancel);
}

// Waits for the end of the command, not of its output: processes that it leaves are killed.
static JobEnd watch(const JobSpec *spec, const OsProcess *process, Str *output) {
    int64_t deadline = os_now_ns() + (int64_t)spec->limit_s * 1000000000;
    bool open = true;
    while (os_now_ns() < deadline) {
        struct pollfd fds[2] = {{.fd = process->pidfd, .events = POLLIN},
                                {.fd = open ? process->output : -1, .events = POLLIN}};
        poll(fds, 2, TICK_MS);
        if (open && fds[1].revents)
            open = drain(process->output, output);
        if (fds[0].revents) {
            drain(process->output, output);
            return JOB_ENDED;
        }
        if (cancelled(spec))
            return JOB_CANCELLED;
    }
    return JOB_TIMED_OUT;
}

bool job_run(const JobSpec *spec, JobResult *result, Error *err) {
    *result = (JobResult){0};
    str_init(&result->output, 2 * (size_t)JOB_OUTPUT_MAX);
    OsSpawnSpec command = {spec->argv, NULL, OS_ERRORS_WITH_OUTPUT, spec->limits};
    scope(os_kill) OsProcess process;
    int64_t start = os_now_ns();
    if (!os_spawn(&process, &command, err))
        return false;
    close(process.input);
    process.input = -1;
    result->end = watch(spec, &process, &result->output);
    result->status = result->end == JOB_ENDED ? os_exit_status(&process) : -1;
    const char *passed = os_limit_exceeded(&process);
    snprintf(result->limit_exceeded, sizeof result->limit_exceeded, "%s", passed ? passed : "");
    result->seconds = (double)(os_now_ns() - start) / 1e9;
    trim_tail(&result->output);
    return true;
}

void job_result_release(JobResult *result) {
    str_release(&result->output);
}
