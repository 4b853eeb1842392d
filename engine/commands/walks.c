// `walks`: searches for the walks whose exits make a book, and prints such a book. It takes an
// hour, once; the file that it writes says for ever which walks they are.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/words.h"
#include "commands/commands.h"
#include "commands/walks_run.h"
#include "search/search.h"

const char WALKS_USAGE[] =
    "usage: walks make FILE [OPTION…]\n"
    "       walks print FILE > BOOK.epd\n"
    "Random walks from the start position have numbers. `make` writes into FILE the numbers of\n"
    "those after which a search gives one side a small advantage; the same options write the same\n"
    "bytes on every machine. `print` prints the positions, without a search.\n"
    "  --count N        number of positions (250000)\n"
    "  --low CP         smallest advantage of one side, in centipawns (50)\n"
    "  --high CP        largest advantage, in centipawns (100)\n"
    "  --nodes N        nodes of the search for each position (1000)\n"
    "  --threads N      threads (all CPUs)\n"
    "  --progress FILE  keeps here what was searched; the same command continues from it\n"
    "  --like FILE      takes count, window and nodes from this file, and stops at the first walk\n"
    "                   that differs from it\n";

typedef struct WalksOptions {
    int64_t count, low, high, nodes, threads;
    const char *progress, *like;
} WalksOptions;

// ---- files --------------------------------------------------------------------------------------

static bool file_load(const char *path, Walks *out, Refusal *err) {
    Refusal why;
    *out = (Walks){0};
    FILE *in = fopen(path, "rb");
    char *bytes = malloc(WALKS_FILE_MAX + 1);
    size_t size = in && bytes ? fread(bytes, 1, WALKS_FILE_MAX + 1, in) : 0;
    bool is_good = in && !ferror(in);
    if (in)
        fclose(in);
    if (!is_good)
        refused(err, "cannot read %s", path);
    else if (!(is_good = walks_read(bytes, size, out, &why)))
        refused(err, "%s: %s", path, why.message);
    free(bytes);
    return is_good;
}

static bool file_save(const char *path, const Walks *walks, Refusal *err) {
    size_t size;
    uint8_t *bytes = walks_write(walks, &size);
    FILE *out = bytes ? fopen(path, "wb") : NULL;
    bool is_good = out && fwrite(bytes, 1, size, out) == size;
    if (out && fclose(out))
        is_good = false;
    free(bytes);
    return is_good || refused(err, "cannot write %s", path);
}

// ---- make ---------------------------------------------------------------------------------------

static bool read_option(WalksOptions *options, const char *name, const char *value) {
    const struct {
        const char *name;
        int64_t least, most;
        int64_t *out;
    } rows[] = {
        {"--count", 1, WALKS_COUNT_MAX, &options->count},
        {"--low", 0, SCORE_MATE, &options->low},
        {"--high", 0, SCORE_MATE, &options->high},
        {"--nodes", 1, 999999999, &options->nodes},
        {"--threads", 1, SEARCH_THREADS_MAX, &options->threads},
    };
    if (!value)
        return false;
    if (strcmp(name, "--progress") == 0)
        options->progress = value;
    else if (strcmp(name, "--like") == 0)
        options->like = value;
    else
        for (size_t i = 0; i <= sizeof rows / sizeof *rows; i++) {
            if (i == sizeof rows / sizeof *rows)
                return false;
            if (strcmp(name, rows[i].name) == 0)
                return word_to_int((Word){value, strlen(value)}, rows[i].least, rows[i].most,
                                   rows[i].out);
        }
    return true;
}

static WalksRecipe recipe_of(const WalksOptions *options, const Walks *like) {
    WalksRecipe recipe = like->recipe;
    if (!options->like)
        recipe = (WalksRecipe){.count = (uint32_t)options->count,
                               .nodes = (uint32_t)options->nodes,
                               .low = (uint32_t)options->low,
                               .high = (uint32_t)options->high};
    const char *net = network_default_sha256();
    snprintf(recipe.net, sizeof recipe.net, "%s", *net ? net : "none");
    return recipe;
}

static bool make(const char *path, const WalksOptions *options, Walks *like, Walks *found,
                 Refusal *err) {
    if (options->like && !file_load(options->like, like, err))
        return false;
    WalksPlan plan = {.recipe = recipe_of(options, like),
                      .threads = (int)options->threads,
                      .progress = options->progress,
                      .like = options->like ? like : NULL};
    if (plan.like && strcmp(plan.recipe.net, like->recipe.net) != 0)
        return refused(err, "%s was made with net %.16s…, and this engine has net %.16s…",
                       options->like, like->recipe.net, plan.recipe.net);
    return walks_run(&plan, found, err) && file_save(path, found, err);
}

static int make_command(int argc, char **argv) {
    WalksOptions options = {.count = 250000,
                            .low = 50,
                            .high = 100,
                            .nodes = 1000,
                            .threads = cpus_usable(SEARCH_THREADS_MAX)};
    for (int i = 1; i < argc; i += 2)
        if (!read_option(&options, argv[i], i + 1 < argc ? argv[i + 1] : NULL)) {
            fprintf(stderr, "anvil: walks: unknown option or wrong value: %s\n", argv[i]);
            return COMMAND_MISUSED;
        }
    if (options.low > options.high) {
        fputs("anvil: walks: --low is larger than --high\n", stderr);
        return COMMAND_MISUSED;
    }
    Refusal err;
    Walks like = {0}, found = {0};
    bool is_good = make(argv[0], &options, &like, &found, &err);
    if (is_good)
        printf("%s: %u openings in %u walks, book %s\n", argv[0], found.recipe.count,
               found.recipe.walks, found.recipe.book);
    else
        fprintf(stderr, "anvil: walks: %s\n", err.message);
    walks_release(&like);
    walks_release(&found);
    return is_good ? 0 : 1;
}

// ---- print --------------------------------------------------------------------------------------

static int print_command(const char *path) {
    Refusal err;
    Walks walks;
    size_t size;
    rules_init();
    char *text = file_load(path, &walks, &err) ? walks_expand(&walks, &size, &err) : NULL;
    if (text)
        fwrite(text, 1, size, stdout);
    else
        fprintf(stderr, "anvil: walks: %s\n", err.message);
    free(text);
    walks_release(&walks);
    return text && !ferror(stdout) ? 0 : 1;
}

int command_walks(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[0], "print") == 0)
        return print_command(argv[1]);
    if (argc >= 2 && strcmp(argv[0], "make") == 0)
        return make_command(argc - 1, argv + 1);
    return COMMAND_MISUSED;
}
