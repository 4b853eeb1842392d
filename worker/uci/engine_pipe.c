// See engine_pipe.h. All descriptors are non-blocking. Every wait is for output or input, standard
// error, the end of the process and the end of the match at the same time.
#include "worker/uci/engine_pipe.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    DRAIN_MAX = 1 << 20,
    ERRORS_CHUNK = 32 << 10,
    LAST_ERRORS_MAX = 4 << 20,
    WATCHED_MAX = 4, // output or input, standard error, end of the process, cancel_fd
};

// ---- descriptors to wait for --------------------------------------------------------------------

// No effect if `fd` is -1.
static bool watch(EngineProcess *engine, int fd, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    return fd < 0 || epoll_ctl(engine->watch, EPOLL_CTL_ADD, fd, &event) == 0;
}

bool pipe_open(EngineProcess *engine) {
    engine->chunk_at = engine->chunk_size = engine->partial_size = 0;
    engine->watch = epoll_create1(EPOLL_CLOEXEC);
    engine->awaited = engine->process.output;
    engine->errors_open = engine->process.errors >= 0;
    return engine->watch >= 0 && watch(engine, engine->process.output, EPOLLIN) &&
           watch(engine, engine->process.errors, EPOLLIN) &&
           watch(engine, engine->process.pidfd, EPOLLIN) &&
           watch(engine, engine->cancel_fd, EPOLLIN);
}

void pipe_close(EngineProcess *engine) {
    close_fd(&engine->watch);
    engine->errors_open = false;
}

// ---- logging ------------------------------------------------------------------------------------

static void log_line(const EngineProcess *engine, MatchLineKind kind, const char *text, size_t size,
                     bool open, int64_t now_ns) {
    const EngineLog *log = &engine->log;
    MatchLine line = {.kind = kind,
                      .slot = log->slot,
                      .engine = log->engine,
                      .time_us = (now_ns - log->start_ns) / 1000,
                      .text = text,
                      .size = size,
                      .open = open};
    log->on_line(log->ctx, &line);
}

static void note(EngineProcess *engine, MatchLineKind kind, const char *text, size_t size,
                 int64_t now_ns) {
    transcript_add(&engine->protocol_log, kind == LINE_TO_ENGINE ? '>' : '<', text, size, now_ns);
    if (engine->log.on_line)
        log_line(engine, kind, text, size, false, now_ns);
}

void pipe_note_sent(EngineProcess *engine, const char *text, size_t size, int64_t now_ns) {
    for (const char *end = text + size, *stop; text < end; text = stop + 1) {
        stop = memchr(text, '\n', (size_t)(end - text));
        stop = stop ? stop : end;
        note(engine, LINE_TO_ENGINE, text, (size_t)(stop - text), now_ns);
    }
}

// ---- standard error -----------------------------------------------------------------------------

static void log_errors(const EngineProcess *engine, const char *text, size_t size) {
    int64_t now_ns = os_now_ns();
    for (const char *end = text + size, *stop; text < end; text = stop + 1) {
        stop = memchr(text, '\n', (size_t)(end - text));
        bool open = !stop;
        stop = stop ? stop : end;
        log_line(engine, LINE_ERROR, text, (size_t)(stop - text), open, now_ns);
    }
}

// Reads once, so that much output there cannot keep the runner from its other work. Returns the
// number of bytes.
static size_t read_errors(EngineProcess *engine) {
    char bytes[ERRORS_CHUNK];
    ssize_t got = read(engine->process.errors, bytes, sizeof bytes);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        epoll_ctl(engine->watch, EPOLL_CTL_DEL, engine->process.errors, NULL);
        engine->errors_open = false;
    }
    if (got <= 0)
        return 0;
    tail_add(&engine->errors, bytes, (size_t)got);
    if (engine->log.on_line)
        log_errors(engine, bytes, (size_t)got);
    return (size_t)got;
}

void pipe_read_last_errors(EngineProcess *engine) {
    for (size_t sum = 0, got = 1; engine->errors_open && got && sum < LAST_ERRORS_MAX; sum += got)
        got = read_errors(engine);
}

// ---- lines --------------------------------------------------------------------------------------

static void partial_add(EngineProcess *engine, const char *text, size_t size) {
    size_t room = sizeof engine->partial - engine->partial_size;
    size_t kept = size < room ? size : room;
    memcpy(engine->partial + engine->partial_size, text, kept);
    engine->partial_size += kept;
}

static bool cut_line(EngineProcess *engine, Line *line) {
    const char *start = engine->chunk + engine->chunk_at;
    size_t left = engine->chunk_size - engine->chunk_at;
    const char *end = left ? memchr(start, '\n', left) : NULL;
    size_t size = end ? (size_t)(end - start) : left;
    engine->chunk_at += size + (end != NULL);
    *line = (Line){start, size};
    if (end && !engine->partial_size)
        return true;
    partial_add(engine, start, size);
    if (!end)
        return false;
    *line = (Line){engine->partial, engine->partial_size};
    engine->partial_size = 0;
    return true;
}

bool pipe_next_line(EngineProcess *engine, Line *line) {
    if (!cut_line(engine, line))
        return false;
    note(engine, LINE_FROM_ENGINE, line->text, line->size, engine->read_at_ns);
    return true;
}

// ---- reading and writing ------------------------------------------------------------------------

// Reads once; all lines of the chunk must have been returned. ENGINE_TIMEOUT: no output yet.
static EngineStatus read_once(EngineProcess *engine) {
    ssize_t got = read(engine->process.output, engine->chunk, sizeof engine->chunk);
    engine->read_at_ns = os_now_ns();
    engine->chunk_at = 0;
    engine->chunk_size = got > 0 ? (size_t)got : 0;
    engine->bytes_left -= got > 0 ? got : 0;
    if (got > 0)
        return ENGINE_OK;
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? ENGINE_TIMEOUT : ENGINE_GONE;
}

// From now on waits include `fd` (-1: none) instead of the one before.
static void await_fd(EngineProcess *engine, int fd, uint32_t events) {
    if (engine->awaited == fd)
        return;
    if (engine->awaited >= 0)
        epoll_ctl(engine->watch, EPOLL_CTL_DEL, engine->awaited, NULL);
    watch(engine, fd, events);
    engine->awaited = fd;
}

// In milliseconds, rounded up.
static int timeout_ms(int64_t left_ns) {
    int64_t ms = (left_ns + 999999) / 1000000;
    return ms < 0 ? 0 : ms > INT_MAX ? INT_MAX : (int)ms;
}

// The status by the events that were seen. ENGINE_TIMEOUT: no event ends the wait.
static EngineStatus judge(EngineProcess *engine, const struct epoll_event *events, int count) {
    uint32_t wanted = 0, cancelled = 0, ended = 0;
    for (int i = 0; i < count; i++) {
        int fd = events[i].data.fd;
        if (fd == engine->awaited)
            wanted = events[i].events;
        else if (fd == engine->cancel_fd)
            cancelled = events[i].events;
        else if (fd == engine->process.pidfd)
            ended = events[i].events;
        else
            read_errors(engine);
    }
    if (cancelled)
        return ENGINE_CANCELLED;
    if (wanted & (EPOLLIN | EPOLLOUT))
        return ENGINE_OK;
    return wanted || ended ? ENGINE_GONE : ENGINE_TIMEOUT;
}

// Waits until `fd` is ready for `events`, the engine ends, or the time is up.
static EngineStatus wait_for(EngineProcess *engine, int fd, uint32_t events, int64_t deadline_ns) {
    struct epoll_event seen[WATCHED_MAX];
    await_fd(engine, fd, events);
    for (;;) {
        int64_t left_ns = deadline_ns - os_now_ns();
        int count = epoll_wait(engine->watch, seen, WATCHED_MAX, timeout_ms(left_ns));
        EngineStatus status = judge(engine, seen, count);
        if (status != ENGINE_TIMEOUT)
            return status;
        if (left_ns <= 0 || (count < 0 && errno != EINTR))
            return ENGINE_TIMEOUT;
    }
}

EngineStatus pipe_read_more(EngineProcess *engine, int64_t deadline_ns) {
    for (;;) {
        int fd = engine->bytes_left > 0 ? engine->process.output : -1;
        EngineStatus status = wait_for(engine, fd, EPOLLIN, deadline_ns);
        // An engine may have written output just before it ended: that output counts.
        if (status == ENGINE_GONE && fd >= 0)
            return read_once(engine) == ENGINE_OK ? ENGINE_OK : ENGINE_GONE;
        if (status != ENGINE_OK)
            return status;
        status = read_once(engine);
        if (engine->read_at_ns > deadline_ns)
            return ENGINE_TIMEOUT;
        if (status != ENGINE_TIMEOUT)
            return status;
    }
}

EngineStatus pipe_send(EngineProcess *engine, const char *text, size_t size, int64_t deadline_ns) {
    for (;;) {
        ssize_t sent = write(engine->process.input, text, size);
        if (sent == (ssize_t)size)
            return ENGINE_OK;
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return ENGINE_GONE;
        text += sent > 0 ? sent : 0;
        size -= sent > 0 ? (size_t)sent : 0;
        EngineStatus status = wait_for(engine, engine->process.input, EPOLLOUT, deadline_ns);
        if (status != ENGINE_OK)
            return status;
    }
}

// Stops after DRAIN_MAX bytes. The beginning of an incomplete line is kept, because its end would
// look like a complete line.
EngineStatus pipe_drain(EngineProcess *engine) {
    Line line;
    engine->bytes_left = DRAIN_MAX;
    for (;;) {
        while (pipe_next_line(engine, &line))
            ;
        EngineStatus status = read_once(engine);
        if (status == ENGINE_TIMEOUT)
            return ENGINE_OK;
        if (status != ENGINE_OK || engine->bytes_left <= 0)
            return status;
    }
}

bool pipe_drain_to_end(EngineProcess *engine, int64_t deadline_ns) {
    EngineStatus status;
    engine->bytes_left = DRAIN_MAX;
    while ((status = pipe_read_more(engine, deadline_ns)) == ENGINE_OK)
        for (Line line; pipe_next_line(engine, &line);)
            ;
    int64_t left_ms = (deadline_ns - os_now_ns()) / 1000000;
    return status != ENGINE_CANCELLED && os_wait(&engine->process, left_ms > 0 ? (int)left_ms : 0);
}
