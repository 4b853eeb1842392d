// See engine_process.h.
//
// A search costs three system calls: write, ppoll, read. What an engine says while it is not asked
// (a second bestmove, chatter) is thrown away before its next search; that takes one more read, so
// only engines that were caught at it get one.
#include "engine_process.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "../server/common/log.h"
#include "../server/common/str.h"

enum { DRAIN_MAX = 1 << 20 };

static void forget_output(EngineProcess *engine) {
    engine->chunk_at = engine->chunk_size = engine->partial_size = 0;
}

// ---- lines --------------------------------------------------------------------------------------

typedef struct Line {
    const char *text;
    size_t size;
} Line;

static void partial_add(EngineProcess *engine, const char *text, size_t size) {
    size_t room = sizeof engine->partial - engine->partial_size;
    size_t kept = size < room ? size : room;
    memcpy(engine->partial + engine->partial_size, text, kept);
    engine->partial_size += kept;
}

// The next whole line of what was read; false when there is none, its beginning then waits in
// `partial`. Valid until the next call.
static bool next_line(EngineProcess *engine, Line *line) {
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

// ---- reading and writing ------------------------------------------------------------------------

// One read into an exhausted chunk. ENGINE_TIMEOUT stands for "nothing there yet".
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

// Waits until `fd` is ready for `events`, the engine ends, or the time is up.
static EngineStatus wait_for(const EngineProcess *engine, int fd, short events,
                             int64_t deadline_ns) {
    struct pollfd set[] = {{.fd = fd, .events = events},
                           {.fd = engine->process.pidfd, .events = POLLIN},
                           {.fd = engine->cancel_fd, .events = POLLIN}};
    int64_t left = deadline_ns - os_now_ns();
    left = left > 0 ? left : 0;
    struct timespec timeout = {left / 1000000000, left % 1000000000};
    int ready = ppoll(set, 3, &timeout, NULL);
    if (set[2].revents)
        return ENGINE_CANCELLED;
    if (set[0].revents & events)
        return ENGINE_OK;
    if (ready > 0)
        return ENGINE_GONE;
    return ready < 0 && errno == EINTR ? ENGINE_OK : ENGINE_TIMEOUT;
}

// Waits for output and reads it. What arrives after the deadline is as good as nothing.
static EngineStatus read_more(EngineProcess *engine, int64_t deadline_ns) {
    for (;;) {
        int fd = engine->bytes_left > 0 ? engine->process.output : -1;
        EngineStatus status = wait_for(engine, fd, POLLIN, deadline_ns);
        // An engine may speak and end before we look: its last words count.
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

static EngineStatus send_text(EngineProcess *engine, const char *text, size_t size,
                              int64_t deadline_ns) {
    for (;;) {
        ssize_t sent = write(engine->process.input, text, size);
        if (sent == (ssize_t)size)
            return ENGINE_OK;
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return ENGINE_GONE;
        text += sent > 0 ? sent : 0;
        size -= sent > 0 ? (size_t)sent : 0;
        EngineStatus status = wait_for(engine, engine->process.input, POLLOUT, deadline_ns);
        if (status != ENGINE_OK)
            return status;
    }
}

// Throws away whatever was said since the last answer. A flood ends after DRAIN_MAX bytes; a line
// begun and not ended stays, or its tail would pass for a line.
static EngineStatus drain(EngineProcess *engine) {
    Line line;
    engine->bytes_left = DRAIN_MAX;
    for (;;) {
        while (next_line(engine, &line))
            ;
        EngineStatus status = read_once(engine);
        if (status == ENGINE_TIMEOUT)
            return ENGINE_OK;
        if (status != ENGINE_OK || engine->bytes_left <= 0)
            return status;
    }
}

// ---- outside a search ---------------------------------------------------------------------------

// Reads until a line of `kind`; calls `also` for every other one.
static EngineStatus expect(EngineProcess *engine, UciKind kind, int64_t deadline_ns,
                           void (*also)(void *ctx, Line line), void *ctx) {
    engine->bytes_left = ENGINE_BYTES_MAX;
    for (;;) {
        for (Line line; next_line(engine, &line);) {
            if (uci_kind(line.text, line.size) == kind)
                return ENGINE_OK;
            if (also)
                also(ctx, line);
        }
        EngineStatus status = read_more(engine, deadline_ns);
        if (status != ENGINE_OK)
            return status;
    }
}

static EngineStatus ask(EngineProcess *engine, const char *text, UciKind answer,
                        int64_t deadline_ns) {
    EngineStatus status = send_text(engine, text, strlen(text), deadline_ns);
    return status == ENGINE_OK ? expect(engine, answer, deadline_ns, NULL, NULL) : status;
}

// Which of the spec's options the engine has declared; more than 64 are not looked at.
typedef struct Declared {
    const EngineSpec *spec;
    uint64_t options;
    bool chess960;
} Declared;

static void note_option(void *ctx, Line line) {
    Declared *declared = ctx;
    if (uci_kind(line.text, line.size) != UCI_OPTION)
        return;
    if (uci_option_is(line.text, line.size, "UCI_Chess960"))
        declared->chess960 = true;
    for (int i = 0; i < declared->spec->option_count && i < 64; i++)
        if (uci_option_is(line.text, line.size, declared->spec->options[i].name))
            declared->options |= UINT64_C(1) << i;
}

static void warn_undeclared(const Declared *declared) {
    const EngineSpec *spec = declared->spec;
    for (int i = 0; i < spec->option_count && i < 64; i++)
        if (!(declared->options >> i & 1))
            log_warn("%s does not have the option %s", spec->name, spec->options[i].name);
}

static void add_option(Str *text, const EngineOption *option) {
    str_printf(text, "setoption name %s", option->name);
    if (option->value)
        str_printf(text, " value %s", option->value);
    str_putc(text, '\n');
}

// Threads go first: engines allocate the hash with them.
static void add_options(Str *text, const EngineSpec *spec, bool chess960) {
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < spec->option_count; i++)
            if (pass == (strcasecmp(spec->options[i].name, "Threads") != 0))
                add_option(text, &spec->options[i]);
    if (chess960)
        add_option(text, &(EngineOption){"UCI_Chess960", "true"});
    str_puts(text, spec->init ? spec->init : "");
    str_puts(text, "isready\n");
}

static EngineStatus greet(EngineProcess *engine, const EngineSpec *spec, bool chess960,
                          int64_t deadline_ns, const char **step) {
    Declared declared = {.spec = spec};
    scope(str_release) Str text;
    str_init(&text, 1 << 20);
    *step = "uci";
    EngineStatus status = send_text(engine, "uci\n", 4, deadline_ns);
    if (status == ENGINE_OK)
        status = expect(engine, UCI_UCIOK, deadline_ns, note_option, &declared);
    if (status != ENGINE_OK)
        return status;
    *step = "isready";
    warn_undeclared(&declared);
    if (chess960 && !declared.chess960)
        log_warn("%s does not say that it plays Chess960", spec->name);
    add_options(&text, spec, chess960);
    return ask(engine, text.data, UCI_READYOK, deadline_ns);
}

static void describe_start(Error *err, const EngineSpec *spec, EngineStatus status,
                           const char *step, int timeout_ms) {
    if (status == ENGINE_CANCELLED)
        error_set(err, 0, "cancelled", "the match was stopped");
    else if (status == ENGINE_GONE)
        error_set(err, 0, "engine_ended", "%s (%s) ended before it answered \"%s\"", spec->name,
                  spec->argv[0], step);
    else
        error_set(err, 0, "engine_silent", "%s (%s) did not answer \"%s\" within %d ms", spec->name,
                  spec->argv[0], step, timeout_ms);
}

EngineStatus engine_start(EngineProcess *engine, const EngineSpec *spec, bool chess960,
                          int timeout_ms, int cancel_fd, Error *err) {
    const char *step = "";
    forget_output(engine);
    engine->spec = spec;
    engine->cancel_fd = cancel_fd;
    engine->speaks_unasked = false;
    OsSpawnSpec command = {spec->argv, spec->directory, OS_ERRORS_NOWHERE, spec->limits};
    if (!os_spawn(&engine->process, &command, err)) {
        error_prefix(err, "%s", spec->name);
        return ENGINE_GONE;
    }
    int64_t deadline_ns = os_now_ns() + (int64_t)timeout_ms * 1000000;
    EngineStatus status = greet(engine, spec, chess960, deadline_ns, &step);
    if (status != ENGINE_OK) {
        describe_start(err, spec, status, step, timeout_ms);
        engine_kill(engine);
    }
    return status;
}

EngineStatus engine_new_game(EngineProcess *engine, int timeout_ms) {
    int64_t deadline_ns = os_now_ns() + (int64_t)timeout_ms * 1000000;
    EngineStatus status = drain(engine);
    return status == ENGINE_OK ? ask(engine, "ucinewgame\nisready\n", UCI_READYOK, deadline_ns)
                               : status;
}

// ---- a search -----------------------------------------------------------------------------------

// Keeps the line for later: reading numbers out of it would run on the engine's clock.
static void keep_info(EngineProcess *engine, UciKind kind, Line line) {
    if (kind == UCI_BOUND && engine->info_kind == UCI_SCORE)
        return;
    engine->info_kind = kind;
    engine->info_size = line.size < sizeof engine->info ? line.size : sizeof engine->info;
    memcpy(engine->info, line.text, engine->info_size);
}

// The next bestmove of the search that runs.
static EngineStatus await_bestmove(EngineProcess *engine, EngineReply *reply) {
    for (;;) {
        for (Line line; next_line(engine, &line);) {
            UciKind kind = uci_kind(line.text, line.size);
            if (kind == UCI_SCORE || kind == UCI_BOUND)
                keep_info(engine, kind, line);
            if (kind != UCI_BESTMOVE)
                continue;
            reply->elapsed_ns = engine->read_at_ns - engine->go_ns;
            uci_read_bestmove(line.text, line.size, reply->move);
            uci_read_info(engine->info, engine->info_size, &reply->info);
            engine->speaks_unasked |= engine->chunk_at < engine->chunk_size;
            return ENGINE_OK;
        }
        EngineStatus status = read_more(engine, engine->deadline_ns);
        if (status != ENGINE_OK)
            return status;
    }
}

EngineStatus engine_go_on(EngineProcess *engine, EngineReply *reply) {
    engine->speaks_unasked = true;
    return await_bestmove(engine, reply);
}

EngineStatus engine_go(EngineProcess *engine, const char *text, size_t size, int64_t limit_ns,
                       EngineReply *reply) {
    if (engine->speaks_unasked && drain(engine) != ENGINE_OK)
        return ENGINE_GONE;
    engine->bytes_left = ENGINE_BYTES_MAX;
    engine->info_kind = UCI_OTHER;
    engine->info_size = 0;
    engine->go_ns = os_now_ns();
    engine->deadline_ns = engine->go_ns + limit_ns;
    EngineStatus status = send_text(engine, text, size, engine->deadline_ns);
    return status == ENGINE_OK ? await_bestmove(engine, reply) : status;
}

// ---- the end ------------------------------------------------------------------------------------

void engine_quit(EngineProcess *engine, int patience_ms) {
    if (engine_is_up(engine) && write(engine->process.input, "quit\n", 5) == 5)
        os_wait(&engine->process, patience_ms);
    engine_kill(engine);
}

void engine_kill(EngineProcess *engine) {
    os_kill(&engine->process);
    forget_output(engine);
}
