// See match_args.h. One table of options, each with a table of its keys where it has any.
#include "match_args.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "../server/common/str.h"
#include "match_args_engine.h"

// ---- memory and messages ------------------------------------------------------------------------

char *match_args_own(MatchArgs *args, char *text) {
    size_t count = (size_t)args->owned_count + 1;
    args->owned = xrealloc(args->owned, count * sizeof *args->owned);
    return args->owned[args->owned_count++] = text;
}

void match_args_release(MatchArgs *args) {
    for (int i = 0; i < args->owned_count; i++)
        free(args->owned[i]);
    free(args->owned);
    *args = (MatchArgs){0};
}

// ---- values -------------------------------------------------------------------------------------

static bool one_of(const char *value, const char *yes, const char *no, bool *out) {
    *out = strcmp(value, yes) == 0;
    return *out || strcmp(value, no) == 0;
}

typedef struct Field {
    const char *name, *wants;
    bool (*read)(MatchArgs *args, const char *value);
} Field;

static bool book_file(MatchArgs *args, const char *value) {
    size_t size = strlen(value);
    args->book.file = value;
    if (size > 4 && strcmp(value + size - 4, ".pgn") == 0)
        args->book.format = BOOK_PGN;
    return size > 0;
}
static bool book_format(MatchArgs *args, const char *value) {
    bool pgn, fine = one_of(value, "pgn", "epd", &pgn);
    args->book.format = pgn ? BOOK_PGN : BOOK_EPD;
    return fine;
}
static bool book_order(MatchArgs *args, const char *value) {
    return one_of(value, "random", "sequential", &args->book.random);
}
static bool book_start(MatchArgs *args, const char *value) {
    return parse_long(value, 1, INT_MAX, &args->book.start);
}
static bool book_plies(MatchArgs *args, const char *value) {
    return parse_long(value, 1, GAME_PLIES_MAX, &args->book.plies);
}
static const Field book_keys[] = {
    {"file", "a file", book_file},
    {"format", "epd or pgn", book_format},
    {"order", "sequential or random", book_order},
    {"start", "the number of an opening, from 1", book_start},
    {"plies", "a whole number from 1", book_plies},
    {NULL, NULL, NULL},
};

static bool draw_move(MatchArgs *args, const char *value) {
    return match_args_int(value, 0, 10000, &args->adjudication.draw_move);
}
static bool draw_count(MatchArgs *args, const char *value) {
    return match_args_int(value, 1, 10000, &args->adjudication.draw_count);
}
static bool draw_score(MatchArgs *args, const char *value) {
    return match_args_int(value, 0, SCORE_CP_MAX, &args->adjudication.draw_score);
}
static const Field draw_keys[] = {
    {"movenumber", "a whole number", draw_move},
    {"movecount", "a whole number from 1", draw_count},
    {"score", "centipawns", draw_score},
    {NULL, NULL, NULL},
};

static bool resign_count(MatchArgs *args, const char *value) {
    return match_args_int(value, 1, 10000, &args->adjudication.resign_count);
}
static bool resign_score(MatchArgs *args, const char *value) {
    return match_args_int(value, 0, SCORE_CP_MAX, &args->adjudication.resign_score);
}
static bool resign_two_sided(MatchArgs *args, const char *value) {
    return one_of(value, "true", "false", &args->adjudication.resign_two_sided);
}
static const Field resign_keys[] = {
    {"movecount", "a whole number from 1", resign_count},
    {"score", "centipawns, without a sign", resign_score},
    {"twosided", "true or false", resign_two_sided},
    {NULL, NULL, NULL},
};

static bool sprt_elo0(MatchArgs *args, const char *value) {
    return parse_double(value, -10000, 10000, &args->sprt.elo0);
}
static bool sprt_elo1(MatchArgs *args, const char *value) {
    return parse_double(value, -10000, 10000, &args->sprt.elo1);
}
static bool sprt_alpha(MatchArgs *args, const char *value) {
    return parse_double(value, 0, 1, &args->sprt.alpha);
}
static bool sprt_beta(MatchArgs *args, const char *value) {
    return parse_double(value, 0, 1, &args->sprt.beta);
}
static bool sprt_model(MatchArgs *args, const char *value) {
    bool normalized, fine = one_of(value, "normalized", "logistic", &normalized);
    args->sprt.model = normalized ? SPRT_NORMALIZED : SPRT_LOGISTIC;
    return fine;
}
static const Field sprt_keys[] = {
    {"elo0", "Elo", sprt_elo0},
    {"elo1", "Elo", sprt_elo1},
    {"alpha", "a probability", sprt_alpha},
    {"beta", "a probability", sprt_beta},
    {"model", "normalized or logistic", sprt_model},
    {NULL, NULL, NULL},
};

static bool pgn_file(MatchArgs *args, const char *value) {
    args->pgn_file = value;
    return *value;
}
static bool pgn_append(MatchArgs *args, const char *value) {
    (void)args;
    return strcmp(value, "true") == 0;
}
static const Field pgn_keys[] = {
    {"file", "a file", pgn_file},
    {"append", "true: games are always appended", pgn_append},
    {NULL, NULL, NULL},
};

static bool set_rounds(MatchArgs *args, const char *value) {
    return match_args_int(value, 1, 10000000, &args->rounds);
}
static bool set_games(MatchArgs *args, const char *value) {
    return match_args_int(value, 1, 2, &args->games);
}
static bool set_slots(MatchArgs *args, const char *value) {
    return match_args_int(value, 1, 1024, &args->slots);
}
static bool set_seed(MatchArgs *args, const char *value) {
    long seed;
    bool fine = parse_long(value, 0, LONG_MAX, &seed);
    args->book.seed = fine ? (uint64_t)seed : 0;
    return fine;
}
static bool set_max_moves(MatchArgs *args, const char *value) {
    return match_args_int(value, 1, 10000, &args->adjudication.max_moves);
}
static bool set_variant(MatchArgs *args, const char *value) {
    return one_of(value, "fischerandom", "standard", &args->book.chess960);
}
static bool set_interval(MatchArgs *args, const char *value) {
    return match_args_int(value, 0, INT_MAX, &args->rating_interval);
}
static bool set_startup(MatchArgs *args, const char *value) {
    return match_args_int(value, 1, 3600000, &args->startup_ms);
}
static bool set_ping(MatchArgs *args, const char *value) {
    return match_args_int(value, 1, 3600000, &args->ping_ms);
}
static bool set_event(MatchArgs *args, const char *value) {
    args->event = value;
    return true;
}
static bool set_site(MatchArgs *args, const char *value) {
    args->site = value;
    return true;
}
static bool set_repeat(MatchArgs *args, const char *value) {
    args->games = 2;
    return !value || strcmp(value, "2") == 0;
}
static bool set_no_swap(MatchArgs *args, const char *value) {
    args->no_swap = true;
    return !value;
}
static bool set_no_affinity(MatchArgs *args, const char *value) {
    args->no_affinity = true;
    return !value;
}
static bool set_help(MatchArgs *args, const char *value) {
    args->help = true;
    return !value;
}
static bool accept(MatchArgs *args, const char *value) {
    (void)args;
    (void)value;
    return true;
}

// ---- options ------------------------------------------------------------------------------------

typedef struct Option {
    const char *name;
    int words_min, words_max;
    const char *wants;
    bool (*read)(MatchArgs *args, const char *value); // NULL value: the option stands alone
    const Field *keys;                                // instead of `read`
} Option;

static const Option options[] = {
    {"-engine", 1, INT_MAX, "key=value...", NULL, NULL},
    {"-each", 1, INT_MAX, "key=value...", NULL, NULL},
    {"-openings", 1, INT_MAX, "key=value...", NULL, book_keys},
    {"-draw", 1, INT_MAX, "key=value...", NULL, draw_keys},
    {"-resign", 1, INT_MAX, "key=value...", NULL, resign_keys},
    {"-sprt", 1, INT_MAX, "key=value...", NULL, sprt_keys},
    {"-pgnout", 1, INT_MAX, "file=FILE", NULL, pgn_keys},
    {"-rounds", 1, 1, "a whole number from 1", set_rounds, NULL},
    {"-games", 1, 1, "1 or 2", set_games, NULL},
    {"-repeat", 0, 1, "nothing, or 2", set_repeat, NULL},
    {"-noswap", 0, 0, "no value", set_no_swap, NULL},
    {"-concurrency", 1, 1, "a whole number from 1 to 1024", set_slots, NULL},
    {"-srand", 1, 1, "a whole number", set_seed, NULL},
    {"-maxmoves", 1, 1, "a whole number from 1", set_max_moves, NULL},
    {"-variant", 1, 1, "standard or fischerandom", set_variant, NULL},
    {"-ratinginterval", 1, 1, "a whole number", set_interval, NULL},
    {"-startup-ms", 1, 1, "milliseconds, from 1", set_startup, NULL},
    {"-ping-ms", 1, 1, "milliseconds, from 1", set_ping, NULL},
    {"-event", 1, 1, "a text", set_event, NULL},
    {"-site", 1, 1, "a text", set_site, NULL},
    {"-recover", 0, 0, "no value", accept, NULL},
    {"-use-affinity", 0, 1, "no value", accept, NULL},
    {"-noaffinity", 0, 0, "no value", set_no_affinity, NULL},
    {"-force-concurrency", 0, 0, "no value", accept, NULL},
    {"-help", 0, 0, "no value", set_help, NULL},
    {"--help", 0, 0, "no value", set_help, NULL},
    {"-h", 0, 0, "no value", set_help, NULL},
};

static const Option *find_option(const char *name) {
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(options[i].name, name) == 0)
            return &options[i];
    return NULL;
}

static bool read_key(MatchArgs *args, const Option *option, const char *word, Error *err) {
    const char *equals = strchr(word, '=');
    if (!equals && option->keys == pgn_keys && pgn_file(args, word))
        return true;
    if (!equals)
        return match_args_refuse(err, option->name, word, "is not of the form key=value");
    for (const Field *key = option->keys; key->name; key++) {
        size_t size = strlen(key->name);
        if (strncmp(key->name, word, size) != 0 || word + size != equals)
            continue;
        if (key->read(args, equals + 1))
            return true;
        return error_field(err, 422, "bad_argument", option->name, "%s %s: %s wants %s",
                           option->name, word, key->name, key->wants);
    }
    return match_args_refuse(err, option->name, word, "no such key");
}

// The engine that the words of one -engine describe; NULL when there are two already.
static EngineArgs *next_engine(MatchArgs *args) {
    return args->engine_count < 2 ? &args->engines[args->engine_count++] : NULL;
}

typedef struct Words {
    const char *const *items;
    int count;
} Words;

static bool read_engine(MatchArgs *args, const Option *option, EngineArgs *engine, Words words,
                        Error *err) {
    if (!engine)
        return match_args_refuse(err, option->name, words.items[0], "a match has two engines");
    for (int i = 0; i < words.count; i++)
        if (!match_args_engine_word(args, engine, option->name, words.items[i], err))
            return false;
    return true;
}

// -each comes first wherever it stands, so that -engine overrides it.
static bool read_option(MatchArgs *args, const Option *option, Words words, bool each, Error *err) {
    bool is_each = strcmp(option->name, "-each") == 0;
    if (words.count < option->words_min || words.count > option->words_max)
        return match_args_refuse(err, option->name, words.count ? words.items[0] : "",
                                 option->wants);
    if (is_each != each)
        return true;
    if (is_each)
        return read_engine(args, option, &args->engines[0], words, err) &&
               read_engine(args, option, &args->engines[1], words, err);
    if (strcmp(option->name, "-engine") == 0)
        return read_engine(args, option, next_engine(args), words, err);
    if (strcmp(option->name, "-sprt") == 0)
        args->has_sprt = true;
    for (int i = 0; option->keys && i < words.count; i++)
        if (!read_key(args, option, words.items[i], err))
            return false;
    const char *value = words.count ? words.items[0] : NULL;
    if (option->keys || option->read(args, value))
        return true;
    return error_field(err, 422, "bad_argument", option->name, "%s %s: wants %s", option->name,
                       value ? value : "", option->wants);
}

static bool is_option(const char *word) {
    return word[0] == '-' && (word[1] == '-' || (word[1] | 32) >= 'a') && word[1] != 0;
}

static bool read_all(MatchArgs *args, int argc, const char *const *argv, bool each, Error *err) {
    for (int i = 0; i < argc;) {
        const Option *option = find_option(argv[i]);
        Words words = {argv + i + 1, 0};
        if (!option)
            return error_field(err, 422, "bad_argument", argv[i],
                               "%s: no such option; --help lists them", argv[i]);
        while (i + 1 + words.count < argc && !is_option(words.items[words.count]))
            words.count++;
        if (!read_option(args, option, words, each, err))
            return false;
        i += 1 + words.count;
    }
    return true;
}

// ---- the whole ----------------------------------------------------------------------------------

static bool complete(MatchArgs *args, Error *err) {
    if (args->engine_count < 2)
        return error_field(err, 422, "bad_argument", "-engine",
                           "-engine: a match needs two engines, %d given", args->engine_count);
    for (int i = 0; i < 2; i++)
        if (!match_args_engine_complete(args, &args->engines[i], i + 1, err))
            return false;
    const char *problem = args->has_sprt ? sprt_bounds_check(&args->sprt) : NULL;
    if (problem)
        return error_field(err, 422, "bad_argument", "-sprt", "-sprt: %s", problem);
    return true;
}

static void set_defaults(MatchArgs *args) {
    *args = (MatchArgs){.rounds = 1,
                        .games = 2,
                        .slots = 1,
                        .rating_interval = 10,
                        .startup_ms = 10000,
                        .ping_ms = 60000,
                        .event = "Match",
                        .site = "?"};
    args->engines[0].threads = args->engines[1].threads = 1;
    args->sprt = (SprtBounds){SPRT_NORMALIZED, 0, 2, 0.05, 0.05};
}

bool match_args_parse(MatchArgs *args, int argc, const char *const *argv, Error *err) {
    set_defaults(args);
    if (!read_all(args, argc, argv, true, err) || !read_all(args, argc, argv, false, err))
        return false;
    return args->help || complete(args, err);
}
