// See match_kit.h.
#include "tests/kit/match_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

char kit_toy[512];
EngineSpec kit_engines[2];

bool kit_toy_found(void) {
    const char *build = getenv("BUILD");
    snprintf(kit_toy, sizeof kit_toy, "%s/tests/toy", build ? build : "build");
    if (access(kit_toy, X_OK) == 0)
        return true;
    printf("Bail out! %s is not built\n", kit_toy);
    return false;
}

Opening kit_opening(void *ctx, int pair) {
    (void)ctx;
    (void)pair;
    return (Opening){.moves = "e2e4 e7e5"};
}

MatchSpec kit_match(const char *const *argv) {
    static const char *const good[] = {kit_toy, NULL};
    for (int i = 0; i < 2; i++)
        kit_engines[i] = (EngineSpec){.name = i ? "B" : "A",
                                      .argv = i || !argv ? good : argv,
                                      .threads = 1,
                                      .limit = {.base_ms = 600000}};
    return (MatchSpec){.engines = kit_engines,
                       .engine_count = 2,
                       .pair_count = 1,
                       .games_per_pair = 2,
                       .opening = kit_opening,
                       .slots = 1,
                       .adjudication.max_moves = 5,
                       .startup_ms = 20000,
                       .ping_ms = 20000};
}

void kit_play_match(const MatchSpec *spec) {
    Error err = {0};
    Match *match = match_new(spec);
    bool played = match_run(match, &err);
    match_free(match);
    if (!played)
        print_message("%s\n", err.message);
    assert_true(played);
}
