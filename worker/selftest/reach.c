// Tests what a foreign program can reach during a build, a bench and a game. A probe, which lists
// everything that it can reach, runs in each, and its list is compared with the list that is
// allowed at this sandbox level. The probe and the allowed lists are in worker/selftest/inside.
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/os/inside.h"
#include "worker/selftest/parts.h"
#include "worker/uci/engine_process.h"

enum { FACTS_BYTES = 1 << 18, LINE_MAX_BYTES = 2048, START_MS = 20000 };

#define FACT "fact "

// Where the probe ran, and the list that is allowed there. Some facts are allowed only without
// Landlock.
typedef struct Place {
    const char *list, *where;
    bool landlock;
} Place;

// True if this line of the list, `WHERE PATTERN`, allows the fact.
static bool line_allows(const Place *place, const char *line, size_t size, const char *fact) {
    char pattern[LINE_MAX_BYTES];
    size_t marked = *line == '?' || *line == '~', word = strcspn(line, " \n") - marked;
    if (size >= sizeof pattern || *line == '#' || marked + word >= size ||
        (*line == '~' && place->landlock))
        return false;
    const char *here = line + marked, *rest = here + word + strspn(here + word, " ");
    snprintf(pattern, sizeof pattern, "%.*s", (int)(line + size - rest), rest);
    return ((word == 3 && strncmp(here, "all", word) == 0) ||
            (word == strlen(place->where) && strncmp(here, place->where, word) == 0)) &&
           fnmatch(pattern, fact, 0) == 0;
}

static bool is_allowed(const Place *place, const char *fact) {
    for (const char *line = place->list; *line;) {
        size_t size = strcspn(line, "\n");
        if (line_allows(place, line, size, fact))
            return true;
        line += size + (line[size] == '\n');
    }
    return false;
}

// Prints a row for each fact that is not allowed, or one row if all are allowed.
static void judge(SelfTest *test, const char *where, char *said) {
    const Sandbox *sandbox = &test->worker->sandbox;
    Place place = {sandbox->level == 2 ? os_inside_level_2 : os_inside_level_1, where,
                   sandbox->profile.access_version > 0};
    char name[32], *rest = NULL;
    int facts = 0, wrong = 0;
    bool ended = false;
    snprintf(name, sizeof name, "reached in %s", where);
    for (char *line = strtok_r(said, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *fact = line + strlen(FACT);
        if (strncmp(line, FACT, strlen(FACT)) != 0)
            continue;
        facts++;
        ended |= strcmp(fact, "end") == 0;
        if (!is_allowed(&place, fact) && ++wrong)
            selftest_row(test, ROW_FAILED, name, "%s", fact);
    }
    if (!ended)
        selftest_row(test, ROW_FAILED, name, "the probe stopped before its end");
    else if (!wrong)
        selftest_row(test, ROW_OK, name, "%d facts, all allowed", facts);
}

static void keep_line(void *ctx, const MatchLine *line) {
    str_add(ctx, line->text, line->size);
    str_puts(ctx, "\n");
}

// The probe prints its list when it starts, and does not answer as an engine, so the match fails.
static void play(const SelfTest *test, const Build *build, Str *said) {
    Error ignored;
    scope(argv_release) Argv argv = {0};
    OsLimits limits;
    build_command(&test->context, build, 0, &argv, &limits);
    EngineSpec spec = {
        .name = "probe", .argv = (const char *const *)argv.items, .threads = 1, .limits = &limits};
    EngineProcess *engine = xcalloc(1, sizeof *engine);
    engine->log = (EngineLog){.on_line = keep_line, .ctx = said};
    if (engine_start(engine, &spec, false, START_MS, -1, &ignored) == ENGINE_OK)
        engine_kill(engine);
    free(engine);
}

void selftest_reach(SelfTest *test) {
    static const char *const no_args[] = {"bench", NULL};
    Error err = {0};
    Bench bench;
    Str said;
    scope(build_release) Build build = {0};
    SelfTestSource source = {.name = "probe.c",
                             .text = os_inside_probe,
                             .command = "cc -w -DPROBE_MAIN probe.c -o probe && ./probe",
                             .binary = "probe"};
    if (!test->worker->sandbox.level)
        return;
    str_init(&said, FACTS_BYTES);
    selftest_begin(test, "reached in build");
    if (!selftest_build(test, &source, &build, &said, &err)) {
        selftest_row(test, ROW_FAILED, "reached in build", "%s %.200s", err.message, said.data);
    } else {
        judge(test, "build", said.data);
        str_clear(&said);
        bench_run(&test->context, &build, no_args, 0, &bench, &said, &err); // it counts no nodes
        judge(test, "bench", said.data);
        str_clear(&said);
        play(test, &build, &said);
        judge(test, "play", said.data);
    }
    str_release(&said);
}
