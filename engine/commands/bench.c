// `bench`: the number of nodes of a fixed search, and its speed.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "commands/bench.h"
#include "commands/bench_positions.h"
#include "commands/commands.h"
#include "search/search.h"
#include "search/timer.h"

enum { BENCH_DEPTH = 12 };

static uint64_t bench_position(Search *search, const char *fen, int depth) {
    Position pos;
    Refusal err;
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

// Reads `[--net NET] [DEPTH]`.
static bool read_arguments(int argc, char **argv, int64_t *depth, const char **net) {
    if (argc > 1 && strcmp(argv[0], "--net") == 0) {
        *net = argv[1];
        argc -= 2;
        argv += 2;
    }
    return argc == 0 ||
           (argc == 1 && word_to_int((Word){argv[0], strlen(argv[0])}, 1, SEARCH_DEPTH_MAX, depth));
}

uint64_t bench_nodes(Search *search, int depth) {
    uint64_t nodes = 0;
    for (size_t i = 0; i < sizeof BENCH_POSITIONS / sizeof *BENCH_POSITIONS; i++)
        nodes += bench_position(search, BENCH_POSITIONS[i], depth);
    return nodes;
}

static void run(const Network *net, int depth) {
    Search *search = search_new(BENCH_HASH_MB, 1);
    search_set_network(search, net);
    int64_t start_us = clock_now_us();
    uint64_t nodes = bench_nodes(search, depth);
    int64_t time_us = clock_now_us() - start_us + 1;
    search_free(search);
    printf("Total time (ms) : %" PRId64 "\n", time_us / 1000);
    printf("Nodes searched  : %" PRIu64 "\n", nodes);
    printf("Nodes/second    : %" PRIu64 "\n", nodes * 1000000 / (uint64_t)time_us);
}

const char BENCH_USAGE[] = "usage: bench [--net FILE|none] [DEPTH]   (DEPTH: from 1 to 120)\n";
_Static_assert(SEARCH_DEPTH_MAX == 120, "as the usage says");

int command_bench(int argc, char **argv) {
    int64_t depth = BENCH_DEPTH;
    const char *name = "<default>";
    Network own;
    Refusal err;
    const Network *net;
    if (!read_arguments(argc, argv, &depth, &name))
        return COMMAND_MISUSED;
    if (!network_choose(name, &own, &net, &err)) {
        fprintf(stderr, "anvil: %s\n", err.message);
        return 1;
    }
    run(net, (int)depth);
    network_release(&own);
    return 0;
}
