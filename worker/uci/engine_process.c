// See engine_process.h.
//
// A search costs three system calls: write, epoll_wait, read. Lines that an engine writes outside a
// search (such as a second bestmove) are discarded before its next search. That takes one more
// read. It is done only for engines that were idle for longer than IDLE_NS, or that have written
// such lines before.
#include "worker/uci/engine_process.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "server/common/log.h"
#include "server/common/str.h"
#include "worker/uci/engine_pipe.h"

enum {
    IDLE_NS = 5000000, // an engine that was idle for longer may have written something
    LAST_WORDS_MAX = 128,
    SPAWN_TRIES = 50,
    SPAWN_REST_MS = 100,
};

// ---- outside a search ---------------------------------------------------------------------------

// Reads until a line of `kind`; calls `also` for every other line.
static EngineStatus expect(EngineProcess *engine, UciKind kind, int64_t deadline_ns,
                           void (*also)(void *ctx, Line line), void *ctx) {
    engine->bytes_left = ENGINE_BYTES_MAX;
    for (;;) {
        for (Line line; pipe_next_line(engine, &line);) {
            if (uci_kind(line.text, line.size) == kind) {
                engine->speaks_unasked |= engine->chunk_at < engine->chunk_size;
                return ENGINE_OK;
            }
            if (also)
                also(ctx, line);
        }
        EngineStatus status = pipe_read_more(engine, deadline_ns);
        if (status != ENGINE_OK)
            return status;
    }
}

static EngineStatus ask(EngineProcess *engine, const char *text, UciKind answer,
                        int64_t deadline_ns) {
    pipe_note_sent(engine, text, strlen(text), os_now_ns());
    EngineStatus status = pipe_send(engine, text, strlen(text), deadline_ns);
    return status == ENGINE_OK ? expect(engine, answer, deadline_ns, NULL, NULL) : status;
}

// The options of the spec that the engine has declared. Only the first 64 are checked.
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

// Threads is sent first, because engines use their threads to allocate the hash.
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
    pipe_note_sent(engine, "uci\n", 4, os_now_ns());
    EngineStatus status = pipe_send(engine, "uci\n", 4, deadline_ns);
    if (status == ENGINE_GONE)
        (void)pipe_drain(engine); // what it said before it ended, for the log
    if (status == ENGINE_OK)
        status = expect(engine, UCI_UCIOK, deadline_ns, note_option, &declared);
    if (status != ENGINE_OK)
        return status;
    *step = "isready";
    warn_undeclared(&declared);
    if (chess960 && !declared.chess960)
        log_warn("%s does not have the option UCI_Chess960", spec->name);
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

// If the system has no process, memory or file descriptor left, the start is repeated for some
// time. It is not a fault of the engine.
static EngineStatus spawn(EngineProcess *engine, const OsSpawnSpec *command, Error *err) {
    struct pollfd cancel = {.fd = engine->cancel_fd, .events = POLLIN};
    for (int i = 0; i < SPAWN_TRIES; i++) {
        if (os_spawn(&engine->process, command, err)) {
            if (pipe_open(engine))
                return ENGINE_OK;
            error_errno(err, "epoll");
            engine_kill(engine);
        }
        if (strcmp(err->code, "cannot_start") == 0)
            return ENGINE_GONE;
        if (poll(&cancel, 1, SPAWN_REST_MS) > 0)
            return ENGINE_CANCELLED;
    }
    return ENGINE_UNABLE;
}

EngineStatus engine_start(EngineProcess *engine, const EngineSpec *spec, bool chess960,
                          int timeout_ms, int cancel_fd, Error *err) {
    const char *step = "";
    engine->spec = spec;
    engine->cancel_fd = cancel_fd;
    engine->speaks_unasked = false;
    OsSpawnSpec command = {spec->argv, spec->directory, OS_ERRORS_PIPE, spec->limits};
    tail_clear(&engine->protocol_log);
    tail_clear(&engine->errors);
    EngineStatus status = spawn(engine, &command, err);
    if (status != ENGINE_OK) {
        error_prefix(err, "%s", spec->name);
        return status;
    }
    os_meter_start(&engine->meter, engine->process.pid);
    int64_t deadline_ns = os_now_ns() + (int64_t)timeout_ms * 1000000;
    status = greet(engine, spec, chess960, deadline_ns, &step);
    if (status != ENGINE_OK) {
        describe_start(err, spec, status, step, timeout_ms);
        engine_kill(engine);
    }
    return status;
}

EngineStatus engine_new_game(EngineProcess *engine, int timeout_ms) {
    int64_t deadline_ns = os_now_ns() + (int64_t)timeout_ms * 1000000;
    EngineStatus status = pipe_drain(engine);
    engine->worked_since = true;
    return status == ENGINE_OK ? ask(engine, "ucinewgame\nisready\n", UCI_READYOK, deadline_ns)
                               : status;
}

// ---- a search -----------------------------------------------------------------------------------

// A line that is too long is cut after a whole word. Returns its size.
static size_t copy_info(char out[ENGINE_INFO_MAX], Line line) {
    size_t size = line.size;
    if (size > ENGINE_INFO_MAX)
        for (size = ENGINE_INFO_MAX; size && line.text[size] != ' ';)
            size--;
    memcpy(out, line.text, size);
    return size;
}

// Keeps the line for later, because parsing it now would cost the engine time. The score is that of
// the last exact line; the principal variation that the engine follows may stand in a line after
// it.
static void keep_info(EngineProcess *engine, UciKind kind, Line line) {
    if (!engine->has_depth)
        engine->has_depth = memmem(line.text, line.size, " depth ", 7) != NULL;
    if (kind == UCI_SCORE || (kind == UCI_BOUND && engine->info_kind != UCI_SCORE)) {
        engine->info_kind = kind;
        engine->info_size = copy_info(engine->info, line);
        engine->later_size = 0;
    } else if (uci_has_pv(line.text, line.size)) {
        engine->later_size = copy_info(engine->later, line);
    }
}

// Waits for the next bestmove of the current search.
static EngineStatus await_bestmove(EngineProcess *engine, EngineReply *reply) {
    for (;;) {
        for (Line line; pipe_next_line(engine, &line);) {
            UciKind kind = uci_kind(line.text, line.size);
            if (kind == UCI_SCORE || kind == UCI_BOUND || kind == UCI_OTHER_INFO)
                keep_info(engine, kind, line);
            if (kind != UCI_BESTMOVE)
                continue;
            reply->elapsed_ns = engine->read_at_ns - engine->go_ns;
            uci_read_bestmove(line.text, line.size, reply->move);
            uci_read_info(engine->info, engine->info_size, &reply->info);
            engine->speaks_unasked |= engine->chunk_at < engine->chunk_size;
            return ENGINE_OK;
        }
        EngineStatus status = pipe_read_more(engine, engine->deadline_ns);
        if (status != ENGINE_OK)
            return status;
    }
}

EngineStatus engine_go_on(EngineProcess *engine, EngineReply *reply) {
    engine->speaks_unasked = true;
    return await_bestmove(engine, reply);
}

EngineStatus engine_go_late(EngineProcess *engine, int64_t more_ns, EngineReply *reply) {
    engine->deadline_ns += more_ns;
    return await_bestmove(engine, reply);
}

EngineStatus engine_go(EngineProcess *engine, const char *text, size_t size, int64_t limit_ns,
                       EngineReply *reply) {
    int64_t now_ns = os_now_ns();
    bool idle = now_ns - engine->read_at_ns > IDLE_NS;
    if ((idle || engine->speaks_unasked) && pipe_drain(engine) != ENGINE_OK)
        return ENGINE_GONE;
    engine->bytes_left = ENGINE_BYTES_MAX;
    engine->info_kind = UCI_OTHER;
    engine->info_size = engine->later_size = 0;
    engine->has_depth = false;
    pipe_note_sent(engine, text, size, now_ns);
    engine->go_ns = os_now_ns();
    engine->deadline_ns = engine->go_ns + limit_ns;
    EngineStatus status = pipe_send(engine, text, size, engine->deadline_ns);
    return status == ENGINE_OK ? await_bestmove(engine, reply) : status;
}

// ---- the end ------------------------------------------------------------------------------------

void engine_remark(EngineProcess *engine, const char *text) {
    transcript_add(&engine->protocol_log, '*', text, strlen(text), os_now_ns());
}

void engine_quit(EngineProcess *engine, int patience_ms) {
    bool waits = engine_is_up(engine) && engine->ignores_quit != engine->spec && patience_ms > 0;
    if (waits)
        pipe_note_sent(engine, "quit\n", 5, os_now_ns());
    if (waits && write(engine->process.input, "quit\n", 5) == 5 &&
        !pipe_drain_to_end(engine, os_now_ns() + (int64_t)patience_ms * 1000000))
        engine->ignores_quit = engine->spec;
    engine_kill(engine);
}

static void note_end(EngineProcess *engine) {
    char how[LAST_WORDS_MAX], text[LAST_WORDS_MAX + 32];
    if (!os_ended(&engine->process, how, sizeof how))
        return;
    snprintf(text, sizeof text, "the process ended: %s", how);
    engine_remark(engine, text);
}

void engine_kill(EngineProcess *engine) {
    if (engine_is_up(engine)) {
        pipe_read_last_errors(engine);
        note_end(engine);
        pipe_close(engine);
    }
    os_meter_stop(&engine->meter);
    os_kill(&engine->process);
}
