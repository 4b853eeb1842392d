// See side_options.h.
#include "worker/task/side_options.h"

#include <stdlib.h>

#include "server/common/uci_option.h"
#include "worker/uci/engine_process.h"

enum { ANSWER_MS = 10000, QUIT_MS = 1000 };

typedef struct Listening {
    Str *list;
    bool *too_long;
} Listening;

static void on_line(void *ctx, const MatchLine *line) {
    Listening *listening = ctx;
    if (line->kind == LINE_FROM_ENGINE && !*listening->too_long)
        *listening->too_long = !uci_list_add(listening->list, line->text, line->size);
}

static void add_words(const EngineProcess *engine, Str *log) {
    str_puts(log, "What was said:\n");
    transcript_print(&engine->protocol_log, engine->log.start_ns, log);
    str_puts(log, "On standard error:\n");
    tail_print(&engine->errors, log);
}

RunOutcome side_options_read(const BuildContext *context, const Build *build, const TaskSide *side,
                             int64_t memory_bytes, Str *list, bool *too_long, Str *log,
                             Error *err) {
    scope(argv_release) Argv argv = {0};
    OsLimits limits;
    Listening listening = {list, too_long};
    EngineProcess *engine scope(free_ptr) = xcalloc(1, sizeof *engine);
    build_command(context, build, memory_bytes, &argv, &limits);
    EngineSpec spec = {.name = side->name,
                       .argv = (const char *const *)argv.items,
                       .threads = 1,
                       .limits = &limits};
    engine->log = (EngineLog){.on_line = on_line, .ctx = &listening, .start_ns = os_now_ns()};
    *too_long = false;
    EngineStatus status = engine_start(engine, &spec, false, ANSWER_MS, -1, err);
    if (status == ENGINE_OK)
        engine_quit(engine, QUIT_MS);
    else
        add_words(engine, log);
    return status == ENGINE_OK ? RUN_DONE : RUN_FAILED;
}

bool side_options_fit(const TaskSide *side, bool chess960, const char *list, Error *err) {
    for (int i = 0; i < side->option_count; i++)
        if (!uci_list_fits(list, side->options[i].name, side->options[i].value, err))
            return false;
    return uci_list_fits_game(list, side->threads, chess960, err);
}
