// Bench of the match runner: games a second between two instant toy engines at 10+0.1 with at most
// 120 plies, its own CPU time a ply, and beside them the bare exchange of one message each way over
// pipes between two processes on one CPU, which no runner can be faster than.
//   bench_match TOY [PAIRS] [SLOTS]
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../engine/rules/notation.h"
#include "../../server/common/log.h"
#include "../../worker/match.h"
#include "../../worker/os.h"

enum { OPENING_PLIES = 8, OPENINGS = 500, ROUND_TRIPS = 100000 };

static char openings[OPENINGS][OPENING_PLIES * 6];

// Random legal moves from a fixed seed; the same openings on every machine.
static void make_opening(char *out, uint64_t seed) {
    Position pos;
    RulesError err;
    Undo undo;
    char *end = out;
    (void)position_from_fen(&pos, POSITION_START_FEN, false, &err);
    for (int i = 0; i < OPENING_PLIES; i++) {
        MoveList list;
        char text[MOVE_TEXT_MAX];
        movegen_legal(&pos, &list);
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        if (!list.size)
            return;
        Move move = list.moves[(seed >> 33) % (uint64_t)list.size];
        end += snprintf(end, 6 + 1, "%s ", move_to_uci(&pos, move, text));
        position_make(&pos, move, &undo);
    }
}

static Opening opening_of(void *ctx, int pair) {
    (void)ctx;
    return (Opening){.moves = openings[pair % OPENINGS]};
}

static double cpu_us(int who) {
    struct rusage usage;
    getrusage(who, &usage);
    return 1e6 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void echo(int in, int out) {
    char byte[64];
    for (ssize_t got; (got = read(in, byte, sizeof byte)) > 0;)
        if (write(out, byte, (size_t)got) != got)
            break;
    _exit(0);
}

// Mean time of one message there and back, in µs.
static double ping_pong(void) {
    int to[2], from[2];
    char message[64] = "position";
    if (pipe(to) || pipe(from))
        fatal("cannot make pipes");
    pid_t child = fork();
    if (child == 0) {
        close(to[1]);
        echo(to[0], from[1]);
    }
    int64_t start = os_now_ns();
    for (int i = 0; i < ROUND_TRIPS; i++)
        if (write(to[1], message, sizeof message) < 0 || read(from[0], message, sizeof message) < 0)
            fatal("the echo ended");
    double us = (double)(os_now_ns() - start) / 1e3 / ROUND_TRIPS;
    close(to[1]);
    waitpid(child, NULL, 0);
    return us;
}

static MatchSpec bench_spec(const char *const *argv, const EngineOption seeds[2], int pairs,
                            int slots) {
    static EngineSpec engines[2];
    MatchSpec spec = {.engines = engines,
                      .engine_count = 2,
                      .pair_count = pairs,
                      .games_per_pair = 2,
                      .opening = opening_of,
                      .slots = slots,
                      .pin = true,
                      .adjudication.max_moves = 60,
                      .startup_ms = 10000,
                      .ping_ms = 10000};
    for (int i = 0; i < 2; i++)
        engines[i] = (EngineSpec){.name = i ? "B" : "A",
                                  .argv = argv,
                                  .options = &seeds[i],
                                  .option_count = 1,
                                  .threads = 1,
                                  .limit = {.base_ms = 10000, .increment_ms = 100}};
    return spec;
}

int main(int argc, char **argv) {
    const char *const command[] = {argc > 1 ? argv[1] : "build/tests/toy", NULL};
    const EngineOption seeds[2] = {{"Seed", "1"}, {"Seed", "2"}};
    long pairs = 500, slots = 1;
    Error err;
    rules_init();
    if ((argc > 2 && (pairs = strtol(argv[2], NULL, 10)) < 1) ||
        (argc > 3 && (slots = strtol(argv[3], NULL, 10)) < 1))
        fatal("usage: bench_match TOY [PAIRS] [SLOTS]");
    for (int i = 0; i < OPENINGS; i++)
        make_opening(openings[i], (uint64_t)i);
    MatchSpec spec = bench_spec(command, seeds, (int)pairs, (int)slots);
    Match *match = match_new(&spec);
    int64_t start = os_now_ns();
    double cpu = cpu_us(RUSAGE_SELF);
    if (!match_run(match, &err))
        fatal("%s", err.message);
    double seconds = (double)(os_now_ns() - start) / 1e9, plies = (double)match_plies(match);
    cpu = cpu_us(RUSAGE_SELF) - cpu;
    match_free(match);
    OsCpus cpus;
    os_cpus_allowed(&cpus);
    (void)os_thread_pin(cpus.ids, 1, &err);
    double bare = ping_pong();
    printf("match: %8.0f games/s with %ld at a time\n", 2 * (double)pairs / seconds, slots);
    printf("match: %8.2f us a ply, %.2f us of it the runner's own CPU\n",
           1e6 * seconds * (double)slots / plies, cpu / plies);
    printf("match: %8.2f us a bare message each way over pipes on one CPU\n", bare);
    return 0;
}
