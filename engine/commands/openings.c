// `openings`: makes a book of positions that random moves reach and that a search judges neither
// equal nor lost. Unbalanced openings lead to fewer draws, so each game of a match says more. The
// same options print the same book.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "commands/commands.h"
#include "commands/opening.h"
#include "search/search.h"

typedef struct OpeningsOptions {
    int64_t count, seed, plies, low, high, nodes;
    bool chess960;
} OpeningsOptions;

// ---- candidates ---------------------------------------------------------------------------------

static bool fits(Search *search, const OpeningsOptions *options, const Position *pos) {
    Root root;
    root_init(&root, pos);
    SearchLimits limits = {.nodes = (uint64_t)options->nodes};
    search_clear(search);
    search_prepare(search, &root, &limits);
    Score score = search_run(search).score;
    score = score < 0 ? -score : score;
    return score >= options->low && score <= options->high;
}

// ---- the book -----------------------------------------------------------------------------------

static bool is_known(const Key *keys, int64_t count, Key key) {
    for (int64_t i = 0; i < count; i++)
        if (keys[i] == key)
            return true;
    return false;
}

// EPD has no counters.
static void print_epd(const Position *pos) {
    char fen[FEN_MAX];
    position_to_fen(pos, fen);
    for (int blanks = 0, i = 0; fen[i]; i++)
        if (fen[i] == ' ' && ++blanks == 4)
            fen[i--] = '\0';
    puts(fen);
}

static bool print_book(const OpeningsOptions *options) {
    Key *keys = calloc((size_t)options->count, sizeof *keys);
    if (!keys)
        return false;
    Search *search = search_new(1, 1);
    uint64_t state = (uint64_t)options->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    // A limit on the tries, because there may be no openings that match the options.
    int64_t tries = options->count * 1000, found = 0;
    while (found < options->count && tries-- > 0) {
        Position pos;
        opening_start(&state, options->chess960, &pos);
        if (!opening_walk(&state, (int)options->plies, &pos) || is_known(keys, found, pos.key) ||
            !fits(search, options, &pos))
            continue;
        keys[found++] = pos.key;
        print_epd(&pos);
    }
    search_free(search);
    free(keys);
    return found == options->count;
}

static bool read_option(OpeningsOptions *options, const char *name, const char *value) {
    const struct {
        const char *name;
        int64_t least, most;
        int64_t *out;
    } rows[] = {
        {"--count", 1, 1000000, &options->count},  {"--seed", 0, INT32_MAX, &options->seed},
        {"--plies", 0, 200, &options->plies},      {"--low", 0, SCORE_MATE, &options->low},
        {"--high", 0, SCORE_MATE, &options->high}, {"--nodes", 1, INT32_MAX, &options->nodes},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(name, rows[i].name) == 0)
            return value && word_to_int((Word){value, strlen(value)}, rows[i].least, rows[i].most,
                                        rows[i].out);
    return false;
}

const char OPENINGS_USAGE[] =
    "usage: openings [OPTION…] > BOOK.epd\n"
    "Prints positions after random moves. A search must give one side a small advantage.\n"
    "  --count N          number of positions (1000)\n"
    "  --seed N           seed of the random moves (1)\n"
    "  --plies N          number of random moves, of both sides together (8)\n"
    "  --low CP           smallest advantage of one side, in centipawns (40)\n"
    "  --high CP          largest advantage, in centipawns (120)\n"
    "  --nodes N          nodes of the search for each position (20000)\n"
    "  --chess960         begins from random start positions of Chess960\n";

int command_openings(int argc, char **argv) {
    OpeningsOptions options = {
        .count = 1000, .seed = 1, .plies = 8, .low = 40, .high = 120, .nodes = 20000};
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--chess960") == 0) {
            options.chess960 = true;
        } else if (!read_option(&options, argv[i], i + 1 < argc ? argv[i + 1] : NULL)) {
            fprintf(stderr, "anvil: openings: unknown option or wrong value: %s\n", argv[i]);
            return COMMAND_MISUSED;
        } else {
            i++;
        }
    }
    if (options.low > options.high) {
        fputs("anvil: openings: --low is larger than --high\n", stderr);
        return COMMAND_MISUSED;
    }
    rules_init();
    if (print_book(&options))
        return 0;
    fputs("anvil: openings: found too few positions between --low and --high\n", stderr);
    return 1;
}
