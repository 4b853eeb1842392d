// `bench` and `eval`: the engine on positions instead of games.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_positions.h"
#include "commands.h"
#include "eval.h"
#include "search.h"
#include "timer.h"
#include "words.h"

enum { BENCH_DEPTH = 12, BENCH_HASH_MB = 16 };

static uint64_t bench_position(Search *search, const char *fen, int depth) {
    Position pos;
    RulesError err;
    if (!position_from_fen(&pos, fen, false, &err)) {
        fprintf(stderr, "anvil: bench position %s: %s\n", fen, err.message);
        exit(EXIT_FAILURE);
    }
    Root root;
    root_init(&root, &pos);
    SearchLimits limits = {.depth = depth};
    search_clear(search); // so that the order of positions does not matter
    search_prepare(search, &root, &limits);
    return search_run(search).nodes;
}

int command_bench(int argc, char **argv) {
    int64_t depth = BENCH_DEPTH;
    if (argc > 1 || (argc == 1 &&
                     !word_to_int((Word){argv[0], strlen(argv[0])}, 1, SEARCH_DEPTH_MAX, &depth))) {
        fprintf(stderr, "usage: bench [DEPTH], 1 to %d\n", SEARCH_DEPTH_MAX);
        return 2;
    }
    Search *search = search_new(BENCH_HASH_MB, 1);
    uint64_t nodes = 0;
    int64_t start_us = clock_now_us();
    for (size_t i = 0; i < sizeof BENCH_POSITIONS / sizeof *BENCH_POSITIONS; i++)
        nodes += bench_position(search, BENCH_POSITIONS[i], (int)depth);
    int64_t time_us = clock_now_us() - start_us + 1;
    search_free(search);
    printf("Total time (ms) : %" PRId64 "\n", time_us / 1000);
    printf("Nodes searched  : %" PRIu64 "\n", nodes);
    printf("Nodes/second    : %" PRIu64 "\n", nodes * 1000000 / (uint64_t)time_us);
    return 0;
}

int command_eval(int argc, char **argv) {
    (void)argv;
    if (argc > 0) {
        fputs("usage: eval < FENS\n", stderr);
        return 2;
    }
    rules_init();
    eval_init();
    PawnCache *cache = calloc(1, sizeof *cache);
    char line[256];
    int status = cache ? 0 : 1;
    while (cache && fgets(line, sizeof line, stdin)) {
        Position pos;
        RulesError err;
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] == '\0')
            continue;
        if (!position_from_fen(&pos, line, false, &err)) {
            fprintf(stderr, "anvil: %s: %s\n", line, err.message);
            status = 1;
            continue;
        }
        Score score = evaluate(&pos, cache);
        printf("%d %s\n", pos.side == WHITE ? score : -score, line);
    }
    free(cache);
    return status;
}
