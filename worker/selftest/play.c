// The games of the self-test: a match between two builds, then engines with faults. Each of these
// must lose, for the right reason, and must leave no process behind.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/common/installed.h"
#include "worker/os/host.h"
#include "worker/selftest/parts.h"

enum { STARTUP_MS = 10000, PING_MS = 5000, MATCH_PAIRS = 4, MATCH_MOVES = 30, GONE_MS = 1000 };
enum { LOG_MAX = 1 << 16, MEMORY_BYTES = 256 << 20 };

// `patient` is for engines without a fault: they do not lose on time on a busy machine. `strict` is
// for engines with a fault: it shows soon.
static const MatchLimit patient = {.base_ms = 10000, .increment_ms = 100, .depth = 5};
static const MatchLimit strict = {.base_ms = 200, .increment_ms = 10, .margin_ms = 50};

// The result of a match.
typedef struct Tally {
    int games, wins, losses, draws; // of the first engine
    int faults[2];                  // games that each engine lost by a fault
    GameEndKind kind;               // of the last fault
    char reason[160];
    double longest_s;
    int64_t rest_us[2]; // CPU time of each engine while the other was to move
} Tally;

static void count(void *ctx, const GameRecord *game) {
    Tally *t = ctx;
    bool first_won = (game->result == RESULT_WHITE_WINS) == (game->white == 0);
    if (game->kind == GAME_END_ABORTED)
        return;
    t->games++;
    t->draws += game->result == RESULT_DRAW;
    t->wins += game->result != RESULT_DRAW && first_won;
    t->losses += game->result != RESULT_DRAW && !first_won;
    if ((double)game->lasted_us / 1e6 > t->longest_s)
        t->longest_s = (double)game->lasted_us / 1e6;
    for (int i = 0; i < 2; i++)
        t->rest_us[i] += record_rest_us(game, i);
    if (game->culprit < 0)
        return;
    t->faults[game->culprit]++;
    t->kind = game->kind;
    snprintf(t->reason, sizeof t->reason, "%s", game->reason);
}

static Opening start_position(void *ctx, int pair) {
    (void)ctx, (void)pair;
    return (Opening){0};
}

// A player: a build and, for the toy engine, the name of its fault.
typedef struct Player {
    const Build *build;
    const char *word;
    const MatchLimit *limit;
    Argv argv;
    OsLimits limits;
} Player;

static EngineSpec engine_of(const SelfTest *test, Player *player, const char *name) {
    build_command(&test->context, player->build, MEMORY_BYTES, &player->argv, &player->limits);
    if (player->word)
        argv_add(&player->argv, player->word);
    return (EngineSpec){.name = name,
                        .argv = (const char *const *)player->argv.items,
                        .threads = 1,
                        .limits = &player->limits,
                        .limit = *player->limit};
}

static bool run_match(SelfTest *test, Player players[2], int pairs, Tally *tally, Error *err) {
    Worker *w = test->worker;
    EngineSpec engines[2] = {engine_of(test, &players[0], "first"),
                             engine_of(test, &players[1], "second")};
    MatchSpec spec = {.engines = engines,
                      .engine_count = 2,
                      .pair_count = pairs,
                      .games_per_pair = 2,
                      .opening = start_position,
                      .slots = w->host.cores < pairs ? w->host.cores : pairs,
                      .pin = host_pins(&w->host),
                      .adjudication = {.max_moves = MATCH_MOVES},
                      .startup_ms = STARTUP_MS,
                      .ping_ms = PING_MS,
                      .on_game = count,
                      .ctx = tally};
    *tally = (Tally){0};
    Match *match = match_new(&spec);
    running_set_match(&w->running, match);
    bool ran = match_run(match, err);
    running_set_match(&w->running, NULL);
    match_free(match);
    argv_release(&players[0].argv);
    argv_release(&players[1].argv);
    return ran;
}

// ---- two builds ---------------------------------------------------------------------------------

typedef struct Pair {
    Build builds[2];
    bool anvil; // false: the toy engine
} Pair;

static void release_pair(Pair *pair) {
    build_release(&pair->builds[0]);
    build_release(&pair->builds[1]);
}

// Builds the engine that is installed with this program, with little optimisation; if none is
// installed, the toy engine. The second build has a change, so that it is not taken from the store;
// the change does not affect the play.
static bool build_pair(SelfTest *test, Pair *pair, Str *log, Error *err) {
    char *folder scope(free_ptr) = installed_folder("engine", "engine");
    static const char *const changes[2] = {"// as it is\n", "// changed\n"};
    pair->anvil = folder != NULL;
    for (int i = 0; i < 2; i++) {
        char *toy scope(free_ptr) = xasprintf("%s%s", selftest_toy, changes[i]);
        SelfTestSource source = {.folder = folder,
                                 .name = folder ? "main.c" : "toy.c",
                                 .text = folder ? changes[i] : toy,
                                 .command = folder ? "make EXE=anvil OPT=-O1 LTO="
                                                   : "cc -w -O1 toy.c -o toy",
                                 .binary = folder ? "anvil" : "toy"};
        str_clear(log);
        if (!selftest_build(test, &source, &pair->builds[i], log, err))
            return false;
    }
    return true;
}

static bool check_benches(SelfTest *test, const Pair *pair) {
    static const char *const args[] = {"bench", "6", NULL};
    Bench benches[2];
    Error err = {0};
    selftest_begin(test, "bench");
    for (int i = 0; i < 2; i++)
        if (bench_run(&test->context, &pair->builds[i], args, 0, &benches[i], NULL, &err) !=
            RUN_DONE) {
            selftest_row(test, ROW_FAILED, "bench", "%s", err.message);
            return false;
        }
    bool same = benches[0].nodes == benches[1].nodes;
    selftest_row(test, same ? ROW_OK : ROW_FAILED, "bench", "%lld and %lld nodes, %.0f a second",
                 (long long)benches[0].nodes, (long long)benches[1].nodes, benches[0].speed);
    return same;
}

static void play_pair(SelfTest *test, const Pair *pair) {
    Tally t;
    Error err = {0};
    Player players[2] = {{.build = &pair->builds[0], .limit = &patient},
                         {.build = &pair->builds[1], .limit = &patient}};
    selftest_begin(test, "match");
    if (!run_match(test, players, MATCH_PAIRS, &t, &err)) {
        selftest_row(test, ROW_FAILED, "match", "%s", err.message);
        return;
    }
    bool fine = t.games == 2 * MATCH_PAIRS && t.faults[0] + t.faults[1] == 0;
    selftest_row(test, fine ? ROW_OK : ROW_FAILED, "match", "%d games: +%d -%d =%d%s%s", t.games,
                 t.wins, t.losses, t.draws, *t.reason ? "; " : "", t.reason);
}

void selftest_match(SelfTest *test) {
    Str log;
    Error err = {0};
    scope(release_pair) Pair pair = {0};
    int64_t start_ns = os_now_ns();
    str_init(&log, LOG_MAX);
    selftest_begin(test, "build");
    if (!build_pair(test, &pair, &log, &err)) {
        selftest_row(test, ROW_FAILED, "build", "%s: %.300s", err.message, log.data);
    } else {
        selftest_row(test, ROW_OK, "build", "%s, with and without a change, %.1f s",
                     pair.anvil ? "Anvil" : "a toy engine (Anvil is not installed here)",
                     (double)(os_now_ns() - start_ns) / 1e9);
        if (check_benches(test, &pair))
            play_pair(test, &pair);
    }
    str_release(&log);
}

// ---- faults -------------------------------------------------------------------------------------

enum {
    CRASH = 1 << GAME_END_CRASH,
    TIME = 1 << GAME_END_TIME,
    ILLEGAL = 1 << GAME_END_ILLEGAL,
    STALL = 1 << GAME_END_STALL
};

static const struct Fault {
    const char *word, *name;
    unsigned kinds; // the ends of a game that are right for this fault
    const MatchLimit *limit;
} faults[] = {
    {"crash", "engine that crashes", CRASH, &strict},
    {"exit", "engine that exits", CRASH, &strict},
    {"hang", "engine that hangs", TIME, &strict},
    {"spin", "engine that never moves", TIME, &strict},
    {"stubborn", "engine ignoring signals", TIME, &strict},
    {"flood", "engine printing endlessly", TIME | CRASH | STALL, &strict},
    {"illegal", "engine with illegal moves", ILLEGAL, &strict},
    {"garbage", "engine printing garbage", ILLEGAL, &strict},
    {"memory", "engine filling the memory", CRASH, &patient},
    {"fork", "engine with 40 children", CRASH | TIME | STALL, &strict},
};

static bool is_right(const struct Fault *fault, const Tally *t) {
    return (fault->kinds & 1u << t->kind) && t->games == 2 && t->losses == 2 && t->faults[0] == 2 &&
           t->faults[1] == 0;
}

// The system may need a moment to end processes that were killed.
static int left_over(const char *program) {
    int left = os_count_running(program);
    for (int waited_ms = 0; left && waited_ms < GONE_MS; waited_ms += 20) {
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        left = os_count_running(program);
    }
    return left;
}

static void try_fault(SelfTest *test, const Build *toy, const struct Fault *fault) {
    Tally t;
    Error err = {0};
    Player players[2] = {{.build = toy, .word = fault->word, .limit = fault->limit},
                         {.build = toy, .limit = &patient}};
    char *program scope(free_ptr) = xasprintf("%s/engine", toy->folder);
    selftest_begin(test, fault->name);
    if (!run_match(test, players, 1, &t, &err)) {
        selftest_row(test, ROW_FAILED, fault->name, "%s", err.message);
        return;
    }
    int left = left_over(program);
    bool right = is_right(fault, &t) && left == 0;
    char stayed[48] = "";
    if (left)
        snprintf(stayed, sizeof stayed, ", %d processes stayed behind", left);
    selftest_row(test, right ? ROW_OK : ROW_FAILED, fault->name,
                 "lost %d of %d games, \"%s\", after %.2f s%s", t.losses, t.games, t.reason,
                 t.longest_s, stayed);
}

// Here an engine that computes in its opponent's time may go on, but the referee must see the CPU
// time: in tests it loses by that. Without a sandbox it cannot see that of child processes.
static void try_theft(SelfTest *test, const Build *toy) {
    static const char name[] = "engine using others' time";
    Tally t;
    Error err = {0};
    Player players[2] = {{.build = toy, .word = "steal", .limit = &patient},
                         {.build = toy, .word = "slow", .limit = &patient}};
    selftest_begin(test, name);
    if (!run_match(test, players, 1, &t, &err)) {
        selftest_row(test, ROW_FAILED, name, "%s", err.message);
        return;
    }
    bool seen = t.rest_us[0] > 0 && t.rest_us[0] > 2 * t.rest_us[1];
    bool excused = test->context.sandbox->level == 0;
    selftest_row(test,
                 seen      ? ROW_OK
                 : excused ? ROW_NOTE
                           : ROW_FAILED,
                 name, "%s: %.2f s of CPU time while its opponent was to move",
                 seen ? "measured" : "not measured", (double)t.rest_us[0] / 1e6);
}

void selftest_faults(SelfTest *test) {
    Str log;
    Error err = {0};
    scope(build_release) Build toy = {0};
    SelfTestSource source = {.name = "toy.c",
                             .text = selftest_toy,
                             .command = "cc -w -O1 toy.c -o toy",
                             .binary = "toy"};
    str_init(&log, LOG_MAX);
    if (!selftest_build(test, &source, &toy, &log, &err))
        selftest_row(test, ROW_FAILED, "toy engine", "%s: %.300s", err.message, log.data);
    else
        for (size_t i = 0; i < sizeof faults / sizeof *faults && !selftest_cancelled(test); i++)
            try_fault(test, &toy, &faults[i]);
    if (toy.folder && !selftest_cancelled(test))
        try_theft(test, &toy);
    str_release(&log);
}
