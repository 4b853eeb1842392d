// Bench of the match runner. Plays one match as its arguments say and prints one line of JSON:
// games a second, the runner's own CPU time a ply, time losses, and how late after the flag the
// latest of them was called.
//   bench_match KEY=VALUE…
//     engine=FILE mode=WORD sleep=MS      the engine, its first argument, its option Sleep
//     pairs=N slots=N plies=N             how many games, how many at a time, how long at most
//     base=MS inc=MS move=MS depth=N      limits
//   bench_match ping                      a bare message each way over pipes between two processes
//                                         on one CPU, which no runner can be faster than
//   bench_match book=FILE                 writes the openings that it plays, as EPD
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/rules/notation.h"
#include "server/common/log.h"
#include "server/common/str.h"
#include "worker/match/match.h"
#include "worker/os/process.h"

enum { OPENING_PLIES = 8, OPENINGS = 500, ROUND_TRIPS = 100000, SLOTS_MAX = 1024 };

static char openings[OPENINGS][OPENING_PLIES * 6 + 1];

// Random legal moves from a fixed seed; the same openings on every machine.
static void make_opening(char *out, uint64_t seed) {
    Position pos;
    Refusal err;
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

// ---- arguments ----------------------------------------------------------------------------------

typedef struct Bench {
    const char *engine, *mode, *sleep;
    long pairs, slots, plies, base_ms, increment_ms, move_ms, depth;
    // What was seen:
    int games, time_losses, overloaded, faults;
    atomic_int_fast64_t go_ns; // when the last "go" was written
    double latest_ms;
} Bench;

static bool take_text(const char *word, const char *key, const char **out) {
    size_t size = strlen(key);
    if (strncmp(word, key, size) != 0 || word[size] != '=')
        return false;
    *out = word + size + 1;
    return true;
}

static bool take_number(const char *word, const char *key, long *out) {
    const char *text;
    return take_text(word, key, &text) && parse_long(text, 0, 1000000000, out);
}

static void take(Bench *b, const char *word) {
    if (!take_text(word, "engine", &b->engine) && !take_text(word, "mode", &b->mode) &&
        !take_text(word, "sleep", &b->sleep) && !take_number(word, "pairs", &b->pairs) &&
        !take_number(word, "slots", &b->slots) && !take_number(word, "plies", &b->plies) &&
        !take_number(word, "base", &b->base_ms) && !take_number(word, "inc", &b->increment_ms) &&
        !take_number(word, "move", &b->move_ms) && !take_number(word, "depth", &b->depth))
        fatal("bench_match: what is \"%s\"?", word);
}

// ---- the match ----------------------------------------------------------------------------------

static void on_line(void *ctx, const MatchLine *line) {
    Bench *b = ctx;
    if (line->kind == LINE_TO_ENGINE && line->size > 3 && memcmp(line->text, "go ", 3) == 0)
        atomic_store(&b->go_ns, os_now_ns());
}

// With one slot, the last "go" is the one that was lost on.
static void on_game(void *ctx, const GameRecord *game) {
    Bench *b = ctx;
    double late_ms = (double)(os_now_ns() - atomic_load(&b->go_ns)) / 1e6 - (double)b->move_ms;
    b->games++;
    b->time_losses += game->kind == GAME_END_TIME;
    b->overloaded += game->overloaded;
    b->faults += game->culprit >= 0 && game->kind != GAME_END_TIME;
    if (game->kind == GAME_END_TIME && late_ms > b->latest_ms)
        b->latest_ms = late_ms;
}

static MatchSpec bench_spec(Bench *b) {
    static EngineSpec engines[2];
    static EngineOption options[2][2];
    static const char *argv[] = {NULL, NULL, NULL};
    argv[0] = b->engine;
    argv[1] = b->mode;
    for (int i = 0; i < 2; i++) {
        options[i][0] = (EngineOption){"Seed", i ? "2" : "1"};
        options[i][1] = (EngineOption){"Sleep", b->sleep};
        bool toy =
            strcmp(strrchr(b->engine, '/') ? strrchr(b->engine, '/') + 1 : b->engine, "toy") == 0;
        engines[i] = (EngineSpec){.name = i ? "B" : "A",
                                  .argv = argv,
                                  .options = options[i],
                                  .option_count = !toy       ? 0
                                                  : b->sleep ? 2
                                                             : 1,
                                  .threads = 1,
                                  .limit = {.base_ms = b->base_ms,
                                            .increment_ms = b->increment_ms,
                                            .move_ms = b->move_ms,
                                            .depth = (int)b->depth}};
    }
    return (MatchSpec){.engines = engines,
                       .engine_count = 2,
                       .pair_count = (int)b->pairs,
                       .games_per_pair = 2,
                       .opening = opening_of,
                       .slots = (int)b->slots,
                       .pin = true,
                       .adjudication.max_moves = (int)b->plies / 2,
                       .startup_ms = 60000,
                       .ping_ms = 60000,
                       .on_game = on_game,
                       .on_line = b->move_ms ? on_line : NULL,
                       .ctx = b};
}

static void run(Bench *b) {
    Error err;
    MatchSpec spec = bench_spec(b);
    Match *match = match_new(&spec);
    int64_t start = os_now_ns();
    double cpu = cpu_us(RUSAGE_SELF);
    if (!match_run(match, &err))
        fatal("%s", err.message);
    double seconds = (double)(os_now_ns() - start) / 1e9, plies = (double)match_plies(match);
    plies = plies > 0 ? plies : 1;
    cpu = cpu_us(RUSAGE_SELF) - cpu;
    match_free(match);
    printf("{\"games\": %d, \"seconds\": %.3f, \"games_per_s\": %.3f, \"plies\": %.0f, "
           "\"us_per_ply\": %.3f, \"own_us_per_ply\": %.3f, \"time_losses\": %d, "
           "\"overloaded\": %d, \"faults\": %d, \"latest_ms\": %.3f}\n",
           b->games, seconds, b->games / seconds, plies, 1e6 * seconds * (double)b->slots / plies,
           cpu / plies, b->time_losses, b->overloaded, b->faults, b->latest_ms);
}

static void print_ping_pong(void) {
    OsCpus cpus;
    Error err;
    os_cpus_allowed(&cpus);
    (void)os_thread_pin(cpus.ids, 1, &err);
    printf("{\"us\": %.3f}\n", ping_pong());
}

static void write_book(const char *path) {
    FILE *file = fopen(path, "w");
    for (int i = 0; file && i < OPENINGS; i++) {
        Position pos;
        Refusal err;
        Undo undo;
        char fen[FEN_MAX], word[MOVE_TEXT_MAX];
        (void)position_from_fen(&pos, POSITION_START_FEN, false, &err);
        for (const char *at = openings[i]; sscanf(at, "%15s", word) == 1; at += strlen(word) + 1)
            position_make(&pos, move_from_uci(&pos, word), &undo);
        fprintf(file, "%s\n", position_to_fen(&pos, fen));
    }
    if (!file || fclose(file) != 0)
        fatal("cannot write %s", path);
}

int main(int argc, char **argv) {
    static Bench bench = {.engine = "build/tests/toy", .pairs = 200, .slots = 1, .plies = 120};
    const char *book;
    rules_init();
    for (int i = 0; i < OPENINGS; i++)
        make_opening(openings[i], (uint64_t)i);
    if (argc == 2 && strcmp(argv[1], "ping") == 0) {
        print_ping_pong();
        return 0;
    }
    if (argc == 2 && take_text(argv[1], "book", &book)) {
        write_book(book);
        return 0;
    }
    for (int i = 1; i < argc; i++)
        take(&bench, argv[i]);
    if (bench.slots < 1 || bench.slots > SLOTS_MAX || (bench.move_ms && bench.slots > 1))
        fatal("bench_match: how late a flag is called is measured with one game at a time");
    run(&bench);
    return 0;
}
