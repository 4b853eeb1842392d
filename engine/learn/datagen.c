// `datagen`: plays games of the engine against itself and stores them in a folder, for the trainer
// and the tuner. It can run for days beside other work. After an interruption, by Ctrl-C or by a
// power failure, the same command continues the run. The same seed, limit and net give the same
// bytes.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/sha256.h"
#include "base/words.h"
#include "commands/bench.h"
#include "commands/commands.h"
#include "learn/chunks.h"
#include "learn/datagen_run.h"
#include "learn/meter.h"
#include "learn/whole_file.h"
#include "rules/error.h"

enum {
    NODES_DEFAULT = 5000,
    NODES_HARD = 20, // times the soft limit: stops an iteration that takes too long
    HASH_DEFAULT_MB = 8,
    BOOK_SHARE_DEFAULT = 50,
    NICE_DEFAULT = 10, // other programs come first
    ID_DEPTH = 6,      // depth of the bench that identifies the engine
    DATAGEN_NET_BYTES_MAX = 1 << 26,
};

const char DATAGEN_USAGE[] =
    "usage: datagen --out DIR --games N [OPTION…]\n"
    "Plays games of the engine against itself. The same command continues an interrupted run.\n"
    "  --out DIR         folder for the games\n"
    "  --games N         number of games in the folder at the end\n"
    "  --nodes N         a search begins no new iteration after N nodes (5000)\n"
    "  --depth N         depth of every search, instead of --nodes\n"
    "  --threads N       number of threads; each plays its own games (the number of CPUs)\n"
    "  --seed N          seed of the random openings (1)\n"
    "  --hash MB         size of the transposition table of each thread (8)\n"
    "  --book FILE       EPD file; a share of the games begins from its positions\n"
    "  --book-share P    share of the games that begin from the book, in percent (50)\n"
    "  --frc             the other games begin from random start positions of Chess960\n"
    "  --net FILE|none   net to use (the default net); none: the classical evaluation\n"
    "  --nice N          niceness of the process, 0 to 19 (10)\n";

typedef struct Options {
    const char *out, *book, *net;
    int64_t games, nodes, depth, threads, seed, hash, book_share, nice;
    bool frc;
} Options;

// ---- the command line --------------------------------------------------------------------------

static bool read_text(Options *o, const char *name, const char *value) {
    const struct {
        const char *name, **out;
    } texts[] = {{"--out", &o->out}, {"--book", &o->book}, {"--net", &o->net}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].out = value;
            return value && *value;
        }
    return false;
}

static bool read_number(Options *o, const char *name, const char *value) {
    const struct {
        const char *name;
        int64_t least, most, *out;
    } numbers[] = {
        {"--games", 1, CHUNKS_GAMES_MAX, &o->games},
        {"--nodes", 1, INT32_MAX, &o->nodes},
        {"--depth", 1, SEARCH_DEPTH_MAX, &o->depth},
        {"--threads", 1, SEARCH_THREADS_MAX, &o->threads},
        {"--seed", 0, INT64_MAX, &o->seed},
        {"--hash", 1, 4096, &o->hash},
        {"--book-share", 1, 100, &o->book_share},
        {"--nice", 0, 19, &o->nice},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(name, numbers[i].name) == 0)
            return value && word_to_int((Word){value, strlen(value)}, numbers[i].least,
                                        numbers[i].most, numbers[i].out);
    return false;
}

static bool options_read(Options *o, int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--frc") == 0) {
            o->frc = true;
        } else if (read_text(o, argv[i], value) || read_number(o, argv[i], value)) {
            i++;
        } else {
            fprintf(stderr, "anvil: datagen: unknown option or wrong value: %s%s%s\n", argv[i],
                    value ? " " : "", value ? value : "");
            return false;
        }
    }
    const char *wrong = !o->out || !o->games   ? "--out and --games are needed"
                        : o->nodes && o->depth ? "give --nodes or --depth, not both"
                                               : NULL;
    if (wrong)
        fprintf(stderr, "anvil: datagen: %s\n", wrong);
    return !wrong;
}

// ---- the plan ----------------------------------------------------------------------------------

static void plan_limits(DatagenPlan *plan, const Options *o) {
    SearchLimits *limits = &plan->rules.limits;
    char *text = plan->header.limit;
    if (o->depth) {
        limits->depth = (int)o->depth;
        snprintf(text, sizeof plan->header.limit, "depth %d, hash %" PRId64 " MB", limits->depth,
                 o->hash);
        return;
    }
    limits->soft_nodes = (uint64_t)(o->nodes ? o->nodes : NODES_DEFAULT);
    limits->nodes = limits->soft_nodes * NODES_HARD;
    snprintf(text, sizeof plan->header.limit,
             "nodes %" PRIu64 ", at most %" PRIu64 ", hash %" PRId64 " MB", limits->soft_nodes,
             limits->nodes, o->hash);
}

// Sets the net and its name in the header. `own` is filled if the net is not the built-in one.
static bool plan_net(DatagenPlan *plan, const char *name, Network *own, Refusal *err) {
    const char *wanted = name ? name : "<default>";
    Refusal reason;
    if (!network_choose(wanted, own, &plan->net, &reason))
        return refused(err, "%s", reason.message);
    char *text = plan->header.net;
    if (!plan->net || plan->net == network_default()) {
        snprintf(text, sizeof plan->header.net, "%s",
                 plan->net ? network_default_sha256() : "none");
        return true;
    }
    size_t size;
    char *bytes = whole_file_read(wanted, DATAGEN_NET_BYTES_MAX, &size, err);
    if (bytes)
        sha256_text(bytes, size, text);
    free(bytes);
    return bytes != NULL;
}

static bool plan_book(DatagenPlan *plan, const Options *o, EpdBook *book, Refusal *err) {
    Refusal reason;
    if (!o->book)
        return true;
    if (!epd_book_load(book, o->book, o->frc, &reason))
        return refused(err, "%s: %s", o->book, reason.message);
    plan->rules.book = book;
    return true;
}

// Names the engine by its bench: the node count over fixed positions with the net of this run.
static void plan_engine(DatagenPlan *plan) {
    Search *search = search_new(BENCH_HASH_MB, 1);
    search_set_network(search, plan->net);
    snprintf(plan->header.engine, sizeof plan->header.engine, "Anvil, bench %d = %" PRIu64,
             ID_DEPTH, bench_nodes(search, ID_DEPTH));
    search_free(search);
}

static bool plan_make(DatagenPlan *plan, const Options *o, Network *own, EpdBook *book,
                      Refusal *err) {
    *plan = (DatagenPlan){.folder = o->out,
                          .games = (uint64_t)o->games,
                          .threads = (int)o->threads,
                          .hash_mb = (size_t)o->hash};
    plan->rules = (SelfplayRules){
        .seed = (uint64_t)o->seed, .book_percent = (int)o->book_share, .chess960 = o->frc};
    plan->header.seed = plan->rules.seed;
    plan_limits(plan, o);
    if (!plan_net(plan, o->net, own, err) || !plan_book(plan, o, book, err))
        return false;
    selfplay_openings_text(&plan->rules, plan->header.openings, sizeof plan->header.openings);
    selfplay_ends_text(plan->header.ends, sizeof plan->header.ends);
    plan_engine(plan);
    return true;
}

// ---- the command -------------------------------------------------------------------------------

static int play(const DatagenPlan *plan, Refusal *err) {
    char count[METER_TEXT_MAX];
    fprintf(stderr, "%s; net %s; %s; seed %" PRIu64 "; %d threads\n", plan->header.engine,
            plan->header.net, plan->header.limit, plan->rules.seed, plan->threads);
    switch (datagen_run(plan, err)) {
    case DATAGEN_DONE:
        printf("%s has %s games\n", plan->folder, meter_count(plan->games, count));
        return 0;
    case DATAGEN_INTERRUPTED:
        printf("%s: interrupted; the same command continues the run\n", plan->folder);
        return 130;
    case DATAGEN_FAILED:
        break;
    }
    return 1;
}

int command_datagen(int argc, char **argv) {
    Options options = {.threads = cpus_usable(SEARCH_THREADS_MAX),
                       .seed = 1,
                       .hash = HASH_DEFAULT_MB,
                       .book_share = BOOK_SHARE_DEFAULT,
                       .nice = NICE_DEFAULT};
    if (!options_read(&options, argc, argv))
        return COMMAND_MISUSED;
    rules_init();
    if (nice((int)options.nice) == -1)
        fputs("anvil: datagen: the niceness could not be changed\n", stderr);
    DatagenPlan plan;
    Network own = {0};
    EpdBook book = {0};
    Refusal err;
    int status = plan_make(&plan, &options, &own, &book, &err) ? play(&plan, &err) : 1;
    if (status == 1)
        fprintf(stderr, "anvil: datagen: %s\n", err.message);
    network_release(&own);
    epd_book_release(&book);
    return status;
}
