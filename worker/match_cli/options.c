// The options of build/match that do not describe an engine, as tables: the name, the value that is
// expected, the member that it sets, the bounds. Options of fastchess and cutechess-cli that this
// program does not have are listed too, with the reason.
// sizes: table
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/log.h"
#include "server/common/str.h"
#include "worker/match_cli/args_table.h"
#include "worker/match_cli/options.h"

#define AT(member) offsetof(MatchArgs, member)
// clang-format off
#define FLAG(name, member) {name, "no value", ARG_FLAG, AT(member), 0, 0, NULL}
#define BOOL(name, member) {name, "true or false", ARG_BOOL, AT(member), 0, 0, NULL}
#define INT(name, member, low, high, wants) {name, wants, ARG_INT, AT(member), low, high, NULL}
#define REAL(name, member, low, high, wants) {name, wants, ARG_REAL, AT(member), low, high, NULL}
#define TEXT(name, member, wants) {name, wants, ARG_TEXT, AT(member), 0, 0, NULL}
#define CALL(name, read, wants) {name, wants, ARG_CALL, 0, 0, 0, read}
#define MAYBE(name, read, wants) {name, wants, ARG_MAYBE, 0, 0, 0, read}
#define END {NULL, NULL, ARG_FLAG, 0, 0, 0, NULL}
// clang-format on

static bool one_of(const char *value, const char *const *names, int *out) {
    for (*out = 0; names[*out]; ++*out)
        if (strcmp(value, names[*out]) == 0)
            return true;
    return false;
}

static bool two_of(const char *value, const char *yes, const char *no, bool *out) {
    *out = strcmp(value, yes) == 0;
    return *out || strcmp(value, no) == 0;
}

static bool accept(MatchArgs *args, void *base, const char *value) {
    (void)args, (void)base, (void)value;
    return true;
}

// ---- openings -----------------------------------------------------------------------------------

static bool book_file(MatchArgs *args, void *base, const char *value) {
    (void)base;
    args->book.file = value;
    args->book.format = book_format_of(value);
    return *value;
}
static bool book_format(MatchArgs *args, void *base, const char *value) {
    static const char *const names[] = {"epd", "pgn", "polyglot", "bin", NULL};
    static const BookFormat formats[] = {BOOK_EPD, BOOK_PGN, BOOK_POLYGLOT, BOOK_POLYGLOT};
    int which;
    (void)base;
    if (!one_of(value, names, &which))
        return false;
    args->book.format = formats[which];
    return true;
}
static bool book_order(MatchArgs *args, void *base, const char *value) {
    (void)base;
    return two_of(value, "random", "sequential", &args->book.random);
}
static bool book_policy(MatchArgs *args, void *base, const char *value) {
    static const char *const names[] = {"round", "default", "encounter", NULL};
    int which;
    (void)base;
    bool fine = one_of(value, names, &which);
    args->book_by_round = which == 0;
    return fine;
}
static const Arg book_keys[] = {
    CALL("file", book_file, "a file"),
    CALL("format", book_format, "epd, pgn or polyglot"),
    CALL("order", book_order, "sequential or random"),
    INT("start", book.start, 1, INT_MAX, "the number of an opening, from 1"),
    INT("plies", book.plies, 1, GAME_PLIES_MAX, "a whole number from 1 to 2048"),
    CALL("policy", book_policy, "round, default or encounter"),
    END,
};

// ---- ends ---------------------------------------------------------------------------------------

static const Arg draw_keys[] = {
    INT("movenumber", adjudication.draw_move, 0, 10000, "a whole number"),
    INT("movecount", adjudication.draw_count, 1, 10000, "a whole number from 1"),
    INT("score", adjudication.draw_score, 0, UCI_SCORE_CP_MAX, "centipawns, without a sign"),
    END,
};

static const Arg resign_keys[] = {
    INT("movecount", adjudication.resign_count, 1, 10000, "a whole number from 1"),
    INT("score", adjudication.resign_score, 0, UCI_SCORE_CP_MAX, "centipawns, without a sign"),
    BOOL("twosided", adjudication.resign_two_sided),
    END,
};

static bool sprt_model(MatchArgs *args, void *base, const char *value) {
    bool normalized, fine = two_of(value, "normalized", "logistic", &normalized);
    (void)base;
    args->sprt.model = normalized ? SPRT_NORMALIZED : SPRT_LOGISTIC;
    return fine;
}
static const Arg sprt_keys[] = {
    REAL("elo0", sprt.elo0, -10000, 10000, "Elo"),
    REAL("elo1", sprt.elo1, -10000, 10000, "Elo"),
    REAL("alpha", sprt.alpha, 0, 1, "a probability"),
    REAL("beta", sprt.beta, 0, 1, "a probability"),
    CALL("model", sprt_model,
         "normalized or logistic; bayesian Elo depends on the draw ratio and is not offered"),
    END,
};

// ---- output -------------------------------------------------------------------------------------

static bool pgn_notation(MatchArgs *args, void *base, const char *value) {
    static const char *const names[] = {"san", "lan", "uci", NULL};
    int which;
    (void)base;
    bool fine = one_of(value, names, &which);
    args->pgn.notation = fine ? (PgnNotation)which : PGN_SAN;
    return fine;
}
static bool pgn_min(MatchArgs *args, void *base, const char *value) {
    (void)base;
    args->pgn.minimal = true;
    return !value || two_of(value, "true", "false", &args->pgn.minimal);
}
static bool pgn_fi(MatchArgs *args, void *base, const char *value) {
    (void)args, (void)base;
    bool ignored; // unfinished games are never written
    return !value || two_of(value, "true", "false", &ignored);
}
static const Arg pgn_keys[] = {
    TEXT("file", pgn_file, "a file"),
    BOOL("append", pgn_append),
    CALL("notation", pgn_notation, "san, lan or uci"),
    BOOL("nodes", pgn.nodes),
    BOOL("seldepth", pgn.seldepth),
    BOOL("nps", pgn.nps),
    BOOL("hashfull", pgn.hashfull),
    BOOL("tbhits", pgn.tbhits),
    BOOL("timeleft", pgn.time_left),
    BOOL("latency", pgn.latency),
    BOOL("pv", pgn.pv),
    MAYBE("min", pgn_min, "true or false"),
    MAYBE("fi", pgn_fi, "true or false"),
    END,
};

static const Arg epd_keys[] = {
    TEXT("file", epd_file, "a file"),
    BOOL("append", epd_append),
    END,
};
static const Arg json_keys[] = {
    TEXT("file", json_file, "a file"),
    BOOL("append", json_append),
    END,
};

static bool log_level(MatchArgs *args, void *base, const char *value) {
    static const char *const names[] = {"trace", "info", "warn", "err", "error", "fatal", NULL};
    static const LogLevel levels[] = {LOG_LEVEL_DEBUG, LOG_LEVEL_INFO,  LOG_LEVEL_WARN,
                                      LOG_LEVEL_ERROR, LOG_LEVEL_ERROR, LOG_LEVEL_ERROR};
    int which;
    (void)base;
    if (!one_of(value, names, &which))
        return false;
    args->log.level = (int)levels[which];
    args->log.engine |= levels[which] == LOG_LEVEL_DEBUG;
    return true;
}
static const Arg log_keys[] = {
    TEXT("file", log.file, "a file"), CALL("level", log_level, "trace, info, warn, err or fatal"),
    BOOL("engine", log.engine),       BOOL("realtime", log.realtime),
    BOOL("compress", log.compress),   END,
};

static bool output_format(MatchArgs *args, void *base, const char *value) {
    (void)base;
    return two_of(value, "cutechess", "fastchess", &args->cutechess);
}
static const Arg output_keys[] = {CALL("format", output_format, "fastchess or cutechess"), END};
static const Arg report_keys[] = {BOOL("penta", pairs_reported), END};
static const Arg crc_keys[] = {BOOL("pgn", crc), END};

static bool config_discard(MatchArgs *args, void *base, const char *value) {
    bool discard;
    (void)args, (void)base;
    return two_of(value, "true", "false", &discard) && !discard;
}
static const Arg state_keys[] = {
    TEXT("file", state_file, "a file"),
    CALL("discard", config_discard, "false; remove the file to start again"),
    TEXT("outname", state_file, "a file"),
    END,
};

// ---- options with one value ---------------------------------------------------------------------

static bool set_seed(MatchArgs *args, void *base, const char *value) {
    long seed;
    (void)base;
    bool fine = parse_long(value, 0, LONG_MAX, &seed);
    args->book.seed = fine ? (uint64_t)seed : 0;
    return fine;
}
static bool set_variant(MatchArgs *args, void *base, const char *value) {
    (void)base;
    bool fine = two_of(value, "fischerandom", "standard", &args->book.chess960);
    if (strcmp(value, "chess960") == 0)
        args->book.chess960 = fine = true;
    return fine;
}
static bool set_tournament(MatchArgs *args, void *base, const char *value) {
    static const char *const names[] = {"roundrobin", "round-robin", "gauntlet", NULL};
    int which;
    (void)base;
    bool fine = one_of(value, names, &which);
    args->tournament = which == 2 ? TOURNAMENT_GAUNTLET : TOURNAMENT_ROUND_ROBIN;
    return fine;
}
static bool set_repeat(MatchArgs *args, void *base, const char *value) {
    (void)base;
    args->games = 2;
    return !value || strcmp(value, "2") == 0;
}
// "0-3,8"
static bool read_cpus(const char *text, OsCpus *out) {
    for (out->count = 0; *text; text += *text == ',') {
        char word[16], *dash;
        size_t size = strcspn(text, ",");
        long first, last;
        if (size >= sizeof word)
            return false;
        memcpy(word, text, size);
        word[size] = 0;
        if ((dash = strchr(word, '-')))
            *dash = 0;
        if (!parse_long(word, 0, OS_CPUS_MAX - 1, &first) ||
            !parse_long(dash ? dash + 1 : word, first, OS_CPUS_MAX - 1, &last))
            return false;
        for (; first <= last && out->count < OS_CPUS_MAX; first++)
            out->ids[out->count++] = (int)first;
        text += size;
    }
    return out->count > 0;
}
static bool set_affinity(MatchArgs *args, void *base, const char *value) {
    (void)base;
    args->no_affinity = false;
    return !value || read_cpus(value, &args->cpus);
}
// -debug, or -debug all as in cutechess-cli.
static bool set_debug(MatchArgs *args, void *base, const char *value) {
    (void)base;
    args->debug = true;
    return !value || strcmp(value, "all") == 0;
}

// clang-format off
#define KEYS(name, keys, first) \
    {{name, "key=value...", ARG_CALL, 0, 0, 0, NULL}, keys, first, false, NULL}
#define ENGINE(name) {{name, "key=value...", ARG_CALL, 0, 0, 0, NULL}, NULL, NULL, true, NULL}
#define ALONE(...) {__VA_ARGS__, NULL, NULL, false, NULL}
#define NOT_HERE(name, why) {{name, "", ARG_MAYBE, 0, 0, 0, accept}, NULL, NULL, false, why}
#define SYZYGY "adjudication by Syzygy tables is not supported"

static const Option options[] = {
    ENGINE("-engine"),
    ENGINE("-each"),
    ENGINE("-quick"),
    KEYS("-openings", book_keys, NULL),
    KEYS("-draw", draw_keys, NULL),
    KEYS("-resign", resign_keys, NULL),
    KEYS("-sprt", sprt_keys, NULL),
    KEYS("-pgnout", pgn_keys, &pgn_keys[0]),
    KEYS("-epdout", epd_keys, &epd_keys[0]),
    KEYS("-jsonout", json_keys, &json_keys[0]),
    KEYS("-log", log_keys, NULL),
    KEYS("-output", output_keys, NULL),
    KEYS("-report", report_keys, NULL),
    KEYS("-crc32", crc_keys, NULL),
    KEYS("-state", state_keys, &state_keys[0]),
    KEYS("-config", state_keys, NULL),
    ALONE(CALL("-tournament", set_tournament, "roundrobin or gauntlet")),
    ALONE(INT("-seeds", seeds, 1, MATCH_ENGINES_MAX, "a whole number from 1")),
    ALONE(INT("-rounds", rounds, 1, 10000000, "a whole number from 1")),
    ALONE(INT("-games", games, 1, 2, "1 or 2")),
    ALONE(MAYBE("-repeat", set_repeat, "nothing, or 2")),
    ALONE(FLAG("-noswap", no_swap)),
    ALONE(FLAG("-reverse", reverse)),
    ALONE(INT("-concurrency", slots, -OS_CPUS_MAX, OS_CPUS_MAX,
              "a whole number up to 1024; 0 or -N: one game per CPU, N CPUs stay free")),
    ALONE(FLAG("-force-concurrency", many_slots)),
    ALONE(INT("-wait", wait_ms, 0, 3600000, "milliseconds")),
    ALONE(CALL("-srand", set_seed, "a whole number")),
    ALONE(CALL("-seed", set_seed, "a whole number")),
    ALONE(INT("-maxmoves", adjudication.max_moves, 1, 10000, "a whole number from 1")),
    ALONE(CALL("-variant", set_variant, "standard or fischerandom")),
    ALONE(INT("-ratinginterval", rating_interval, 0, INT_MAX, "a whole number")),
    ALONE(INT("-scoreinterval", score_interval, 0, INT_MAX, "a whole number")),
    ALONE(INT("-autosaveinterval", save_interval, 0, INT_MAX, "a number of games")),
    ALONE(INT("-startup-ms", startup_ms, 1, 3600000, "milliseconds, from 1")),
    ALONE(INT("-ucinewgame-ms", new_game_ms, 1, 3600000, "milliseconds, from 1")),
    ALONE(INT("-ping-ms", ping_ms, 1, 3600000, "milliseconds, from 1")),
    ALONE(TEXT("-event", event, "a text")),
    ALONE(TEXT("-site", site, "a text")),
    ALONE(MAYBE("-use-affinity", set_affinity, "nothing, or a list of CPUs like 0-3,8")),
    ALONE(FLAG("-noaffinity", no_affinity)),
    ALONE(FLAG("-show-latency", show_latency)),
    ALONE(FLAG("-check-pvs", check_pvs)),
    ALONE(FLAG("-check-mate-pvs", check_pvs)),
    ALONE(FLAG("-strict", strict)),
    ALONE(FLAG("-fair", fair)),
    ALONE(INT("-playon", play_on, 1, 100, "a whole number from 1 to 100, percent")),
    ALONE(MAYBE("-debug", set_debug, "nothing, or all")),
    ALONE(MAYBE("-recover", accept, "no value")),
    ALONE(MAYBE("-testEnv", accept, "no value")),
    ALONE(CALL("-outcomeinterval", accept, "a whole number")),
    ALONE(CALL("-resultformat", accept, "a format")),
    ALONE(FLAG("-help", help)),
    ALONE(FLAG("-h", help)),
    ALONE(FLAG("-version", version)),
    ALONE(FLAG("-v", version)),
    NOT_HERE("-tb", SYZYGY),
    NOT_HERE("-tbpieces", SYZYGY),
    NOT_HERE("-tbignore50", SYZYGY),
    NOT_HERE("-tbadjudicate", SYZYGY),
    NOT_HERE("-xboard",
             "only UCI engines are supported; for xboard engines use an adapter like polyglot"),
    NOT_HERE("-ponder", "pondering is not supported, because games share CPUs"),
    NOT_HERE("-bookmode",
             "is not needed: only the openings that are played are read from the book"),
    NOT_HERE("-compliance",
             "is not supported; play a match instead, which reports every fault of the engine"),
    NOT_HERE("-randomseed", "is not supported; use -srand with a fixed seed, so that the match "
                            "can be repeated and resumed"),
};
// clang-format on
enum { OPTION_COUNT = sizeof options / sizeof *options };

// Two dashes mean the same as one.
const Option *match_option_find(const char *name) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strcmp(options[i].arg.name, name) == 0)
            return &options[i];
    return name[0] == '-' && name[1] == '-' ? match_option_find(name + 1) : NULL;
}

const char *match_option_nearest(const char *name) {
    const char *names[OPTION_COUNT];
    int count = 0;
    for (int i = 0; i < OPTION_COUNT; i++)
        if (!options[i].refusal)
            names[count++] = options[i].arg.name;
    return nearest_name(name, names, count);
}
