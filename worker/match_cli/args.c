// See args.h. Reads the command line in two passes: -each first, so that values of -engine replace
// those of -each, whatever their order. The tables of options are in options.c.
#include "worker/match_cli/args.h"
#include "worker/match_cli/args_engine.h"
#include "worker/match_cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/log.h"
#include "server/common/str.h"
#include "worker/match_cli/args_table.h"

enum { SPRT_ROUNDS_MAX = 500000, QUICK_ROUNDS = 25000 };

typedef struct Words {
    const char *const *items;
    int count;
} Words;

void match_args_release(MatchArgs *args) {
    for (int i = 0; i < args->owned_count; i++)
        free(args->owned[i]);
    free(args->owned);
    free(args->engines);
    *args = (MatchArgs){0};
}

// ---- options that make engines ------------------------------------------------------------------

static EngineArgs *next_engine(MatchArgs *args, const char *word, Error *err) {
    if (args->engine_count == args->engine_max) {
        match_args_refuse(err, "-engine", word, "a tournament has at most 256 engines");
        return NULL;
    }
    return &args->engines[args->engine_count++];
}

static bool read_engine(MatchArgs *args, Words words, Error *err) {
    EngineArgs *engine = next_engine(args, words.items[0], err);
    for (int i = 0; engine && i < words.count; i++)
        if (!match_args_engine_word(args, engine, "-engine", words.items[i], err))
            return false;
    return engine;
}

static bool read_each(MatchArgs *args, Words words, Error *err) {
    for (int k = 0; k < args->engine_max; k++)
        for (int i = 0; i < words.count; i++)
            if (!match_args_engine_word(args, &args->engines[k], "-each", words.items[i], err))
                return false;
    return true;
}

// fastchess's -quick: two engines, 10+0.1, a book in random order, and values for other options.
static bool read_quick(MatchArgs *args, Words words, Error *err) {
    for (int i = 0; i < words.count; i++) {
        const char *word = words.items[i];
        if (strncmp(word, "book=", 5) == 0) {
            args->book.file = word + 5;
            args->book.format = book_format_of(word + 5);
            args->book.random = true;
            continue;
        }
        EngineArgs *engine = strncmp(word, "cmd=", 4) == 0 ? next_engine(args, word, err) : NULL;
        if (!engine)
            return match_args_refuse(err, "-quick", word, "expects cmd=A cmd=B and book=FILE");
        if (!match_args_engine_word(args, engine, "-quick", word, err) ||
            !match_args_engine_word(args, engine, "-quick", "tc=10+0.1", err))
            return false;
    }
    args->slots = -2;
    args->rounds = args->rounds ? args->rounds : QUICK_ROUNDS;
    args->adjudication.draw_move = 30;
    args->adjudication.draw_count = args->adjudication.draw_score = 8;
    args->cutechess = true;
    return true;
}

// ---- words --------------------------------------------------------------------------------------

static bool read_keys(MatchArgs *args, const Option *option, Words words, Error *err) {
    for (int i = 0; i < words.count; i++) {
        const char *word = words.items[i];
        bool bare = option->first && !strchr(word, '=');
        const Arg *lone = bare ? arg_find(option->keys, word, strlen(word)) : NULL;
        if (bare && lone && lone->kind == ARG_MAYBE)
            lone->read(args, args, NULL); // "-pgnout FILE min"
        else if (bare && i == 0 && *word)
            arg_read(option->first, args, args, word);
        else if (!arg_read_word(option->keys, args, args, option->arg.name, word, err))
            return false;
    }
    return true;
}

// Both passes call it. With `each` it reads -each alone, else all other options.
static bool read_option(MatchArgs *args, const Option *option, Words words, bool each, Error *err) {
    const char *name = option->arg.name, *value = words.count ? words.items[0] : NULL;
    if (option->refusal)
        return error_field(err, 422, "bad_argument", name, "%s: %s", name, option->refusal);
    if (words.count == 0 && (option->keys || option->engine))
        return error_field(err, 422, "bad_argument", name, "%s expects %s", name,
                           option->arg.wants);
    if (each)
        return strcmp(name, "-each") != 0 || read_each(args, words, err);
    args->has_sprt |= strcmp(name, "-sprt") == 0;
    args->has_draw |= strcmp(name, "-draw") == 0;
    args->has_resign |= strcmp(name, "-resign") == 0;
    if (option->engine)
        return strcmp(name, "-engine") == 0  ? read_engine(args, words, err)
               : strcmp(name, "-quick") == 0 ? read_quick(args, words, err)
                                             : true;
    if (option->keys)
        return read_keys(args, option, words, err);
    if (words.count > 1)
        return match_args_refuse(err, name, words.items[1], "unexpected word");
    if (arg_read(&option->arg, args, args, value))
        return true;
    if (!value)
        return error_field(err, 422, "bad_argument", name, "%s expects %s", name,
                           option->arg.wants);
    return error_field(err, 422, "bad_argument", name, "%s %s: expects %s", name, value,
                       option->arg.wants);
}

static bool is_option(const char *word) {
    return word[0] == '-' && (word[1] == '-' || (word[1] | 32) >= 'a') && word[1] != 0;
}

static bool refuse_option(const char *word, Error *err) {
    const char *nearest = match_option_nearest(word);
    return error_field(err, 422, "bad_argument", word, "%s: no such option; %s%s%s", word,
                       nearest ? "did you mean " : "--help lists them", nearest ? nearest : "",
                       nearest ? "?" : "");
}

static bool read_all(MatchArgs *args, int argc, const char *const *argv, bool each, Error *err) {
    for (int i = 0; i < argc;) {
        const Option *option = match_option_find(argv[i]);
        Words words = {argv + i + 1, 0};
        if (!option)
            return refuse_option(argv[i], err);
        while (i + 1 + words.count < argc && !is_option(words.items[words.count]))
            words.count++;
        if (!read_option(args, option, words, each, err))
            return false;
        i += 1 + words.count;
    }
    return true;
}

// ---- the whole ----------------------------------------------------------------------------------

static bool refuse(Error *err, const char *option, const char *why) {
    return error_field(err, 422, "bad_argument", option, "%s: %s", option, why);
}

static const EngineArgs *namesake(const MatchArgs *args, int number) {
    for (int k = 0; k < number; k++)
        if (strcmp(args->engines[number].name, args->engines[k].name) == 0)
            return &args->engines[k];
    return NULL;
}

// Files and reports identify engines by name. Engines without name= have the name of their program;
// if another engine has the same name, a number is added.
static bool names_differ(MatchArgs *args, Error *err) {
    for (int i = 1; i < args->engine_count; i++) {
        EngineArgs *engine = &args->engines[i];
        const char *plain = engine->name;
        const EngineArgs *other = namesake(args, i);
        for (int n = 2; other && engine->unnamed; n++, other = namesake(args, i))
            engine->name = match_args_own(args, xasprintf("%s-%d", plain, n));
        if (other)
            return error_field(err, 422, "bad_argument", "-engine",
                               "-engine: engines %d and %d are both called %s; give name=",
                               (int)(other - args->engines) + 1, i + 1, engine->name);
    }
    return true;
}

static bool complete_engines(MatchArgs *args, Error *err) {
    if (args->engine_count < 2)
        return error_field(err, 422, "bad_argument", "-engine",
                           "-engine: a match needs two engines, %d given", args->engine_count);
    for (int i = 0; i < args->engine_count; i++)
        if (!match_args_engine_complete(args, &args->engines[i], i + 1, err))
            return false;
    if (args->tournament == TOURNAMENT_GAUNTLET && args->seeds >= args->engine_count)
        return refuse(err, "-seeds", "must be less than the number of engines");
    return names_differ(args, err);
}

static void complete_ends(MatchArgs *args) {
    Adjudication *rules = &args->adjudication;
    if (args->has_draw && !rules->draw_count)
        rules->draw_count = 1;
    if (args->has_resign && !rules->resign_count)
        rules->resign_count = 1;
    if (!args->rounds)
        args->rounds = args->has_sprt ? SPRT_ROUNDS_MAX : 1;
}

// Two outputs in one file could not be read, and saving the state would replace the file.
static bool files_differ(const MatchArgs *args, Error *err) {
    const char *const files[] = {args->pgn_file, args->epd_file, args->json_file, args->log.file,
                                 args->state_file};
    static const char *const options[] = {"-pgnout", "-epdout", "-jsonout", "-log", "-state"};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < i; k++)
            if (files[i] && files[k] && strcmp(files[i], files[k]) == 0)
                return error_field(err, 422, "bad_argument", options[i],
                                   "%s %s: %s already uses this file", options[i], files[i],
                                   options[k]);
    return true;
}

// 0 or -N: as many slots as CPUs that may be used, less N.
static void complete_slots(MatchArgs *args) {
    OsCpus cpus;
    os_cpus_allowed(&cpus);
    int count = args->cpus.count ? args->cpus.count : cpus.count;
    if (args->slots <= 0)
        args->slots = count + args->slots > 1 ? count + args->slots : 1;
}

static bool complete(MatchArgs *args, Error *err) {
    if (!complete_engines(args, err))
        return false;
    complete_slots(args);
    complete_ends(args);
    const char *problem = args->has_sprt ? sprt_bounds_check(&args->sprt) : NULL;
    if (problem)
        return refuse(err, "-sprt", problem);
    if (args->has_sprt && args->engine_count > 2)
        return refuse(err, "-sprt", "is for two engines, not for a tournament");
    if (args->engine_count > 2 && !args->book_by_round)
        return refuse(err, "-openings",
                      "with more than two engines the policy must be round: all "
                      "pairings of a round play the same opening");
    if (args->crc && !args->pgn_file)
        return refuse(err, "-crc32", "needs -pgnout");
    if (args->log.engine && !args->log.file)
        return refuse(err, "-log", "needs file=");
    return files_differ(args, err);
}

// The largest number of engines that the command line can describe.
static int count_engines(int argc, const char *const *argv) {
    int count = 0;
    for (int i = 0; i < argc; i++)
        count += strcmp(argv[i], "-engine") == 0 || strncmp(argv[i], "cmd=", 4) == 0;
    return count < MATCH_ENGINES_MAX ? count : MATCH_ENGINES_MAX;
}

static void set_defaults(MatchArgs *args, int engine_max) {
    *args = (MatchArgs){.games = 2,
                        .slots = 1,
                        .seeds = 1,
                        .rating_interval = 10,
                        .score_interval = 1,
                        .startup_ms = 10000,
                        .ping_ms = 60000,
                        .pairs_reported = true,
                        .pgn_append = true,
                        .epd_append = true,
                        .json_append = true,
                        .book_by_round = true,
                        .log = {.level = LOG_LEVEL_INFO},
                        .event = "Match",
                        .site = "?"};
    args->engines = xcalloc((size_t)engine_max, sizeof *args->engines);
    args->engine_max = engine_max;
    for (int i = 0; i < engine_max; i++)
        args->engines[i].threads = 1;
    args->sprt = (SprtBounds){SPRT_NORMALIZED, 0, 2, 0.05, 0.05};
}

bool match_args_parse(MatchArgs *args, int argc, const char *const *argv, Error *err) {
    set_defaults(args, count_engines(argc, argv));
    if (!read_all(args, argc, argv, true, err) || !read_all(args, argc, argv, false, err))
        return false;
    return args->help || args->version || complete(args, err);
}

const char *match_args_only_state(int argc, const char *const *argv) {
    if (argc != 2 || (strcmp(argv[0], "-state") != 0 && strcmp(argv[0], "-config") != 0))
        return NULL;
    return strncmp(argv[1], "file=", 5) == 0 ? argv[1] + 5 : argv[1];
}
