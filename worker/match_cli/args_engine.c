// The keys of -engine and -each: one table, and small functions that each read one value.

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/str.h"
#include "worker/match_cli/args_engine.h"
#include "worker/match_cli/args_table.h"
#include "worker/match_cli/engine_conf.h"

enum { DAY_MS = 24 * 3600 * 1000 };

// ---- time controls ------------------------------------------------------------------------------

// "[min:]sec"
static bool read_base(const char *text, size_t size, int64_t *out) {
    int64_t minutes = 0, seconds;
    const char *colon = memchr(text, ':', size);
    if (colon && !match_args_ms(text, (size_t)(colon - text), 60000, &minutes))
        return false;
    const char *rest = colon ? colon + 1 : text;
    if (!match_args_ms(rest, (size_t)(text + size - rest), 1000, &seconds))
        return false;
    *out = minutes + seconds;
    return true;
}

bool match_limit_parse_tc(const char *text, MatchLimit *limit) {
    limit->base_ms = limit->increment_ms = limit->moves_to_go = 0;
    if (strcmp(text, "inf") == 0 || strcmp(text, "infinite") == 0)
        return true;
    const char *slash = strchr(text, '/');
    if (slash) {
        char moves[8];
        int size = (int)(slash - text);
        if (size >= (int)sizeof moves)
            return false;
        snprintf(moves, sizeof moves, "%.*s", size, text);
        if (!match_args_int(moves, 1, 10000, &limit->moves_to_go))
            return false;
        text = slash + 1;
    }
    size_t base = strcspn(text, "+");
    if (text[base] &&
        !match_args_ms(text + base + 1, strlen(text + base + 1), 1000, &limit->increment_ms))
        return false;
    return read_base(text, base, &limit->base_ms) && limit->base_ms + limit->increment_ms > 0;
}

// ---- keys of -engine and -each ------------------------------------------------------------------

static bool key_arg(MatchArgs *args, void *base, const char *value) {
    return engine_args_add(args, base, value);
}

// Takes the next word off `text` and returns it without its quotes. Blanks inside quotes belong to
// the word; \" is a quote inside quotes.
static char *quoted_word(const char **text) {
    char *word = xstrdup(*text), *out = word;
    bool quoted = false;
    for (; **text && (quoted || **text != ' '); ++*text) {
        if (**text == '\\' && (*text)[1] == '"')
            *out++ = *++*text;
        else if (**text == '"')
            quoted = !quoted;
        else
            *out++ = **text;
    }
    *out = 0;
    return word;
}
static bool key_args(MatchArgs *args, void *base, const char *value) {
    EngineArgs *engine = base;
    for (value += strspn(value, " "); *value; value += strspn(value, " ")) {
        if (engine->argc == MATCH_ENGINE_ARGS_MAX)
            return false;
        engine->argv[++engine->argc] = match_args_own(args, quoted_word(&value));
    }
    return true;
}
static bool key_proto(MatchArgs *args, void *base, const char *value) {
    (void)args, (void)base;
    return strcmp(value, "uci") == 0;
}
static bool key_tc(MatchArgs *args, void *base, const char *value) {
    EngineArgs *engine = base;
    (void)args;
    engine->control = value;
    return match_limit_parse_tc(value, &engine->limit);
}
static bool key_st(MatchArgs *args, void *base, const char *value) {
    int64_t *ms = &((EngineArgs *)base)->limit.move_ms;
    (void)args;
    return match_args_ms(value, strlen(value), 1000, ms) && *ms > 0;
}
static bool key_nodes(MatchArgs *args, void *base, const char *value) {
    long nodes;
    (void)args;
    bool fine = parse_long(value, 1, LONG_MAX / 2, &nodes);
    ((EngineArgs *)base)->limit.nodes = fine ? nodes : 0;
    return fine;
}
static bool key_margin(MatchArgs *args, void *base, const char *value) {
    long margin;
    (void)args;
    bool fine = parse_long(value, 0, DAY_MS, &margin);
    ((EngineArgs *)base)->limit.margin_ms = fine ? margin : 0;
    return fine;
}
static bool key_restart(MatchArgs *args, void *base, const char *value) {
    bool on = strcmp(value, "on") == 0;
    (void)args;
    ((EngineArgs *)base)->restart = on;
    return on || strcmp(value, "off") == 0 || strcmp(value, "auto") == 0;
}
// Lines are separated by newlines, or by the two characters "\n", as in cutechess-cli.
static bool key_init(MatchArgs *args, void *base, const char *value) {
    EngineArgs *engine = base;
    Str text;
    str_init(&text, 1 << 16);
    str_puts(&text, engine->init ? engine->init : "");
    for (; *value; value++) {
        bool newline = value[0] == '\\' && value[1] == 'n';
        str_putc(&text, newline ? '\n' : *value);
        value += newline;
    }
    str_putc(&text, '\n');
    engine->init = match_args_own(args, str_steal(&text));
    return true;
}
static bool key_conf(MatchArgs *args, void *base, const char *value) {
    (void)args, (void)base, (void)value;
    return false; // match_args_engine_word reads it, and gives a better error message
}
static bool key_flag_off(MatchArgs *args, void *base, const char *value) {
    (void)args, (void)base;
    return strcmp(value, "false") == 0;
}
static bool key_ignored(MatchArgs *args, void *base, const char *value) {
    (void)args, (void)base, (void)value;
    return true;
}

#define AT(member) offsetof(EngineArgs, member)
// clang-format off
#define TEXT(name, member, wants) {name, wants, ARG_TEXT, AT(member), 0, 0, NULL}
#define CALL(name, read, wants) {name, wants, ARG_CALL, 0, 0, 0, read}
static const Arg engine_keys[] = {
    TEXT("cmd", command, "a program"),
    TEXT("name", name, "a name"),
    TEXT("dir", directory, "a folder"),
    TEXT("stderr", errors_file, "a file"),
    CALL("conf", key_conf, "the name of an engine in engines.json"),
    CALL("proto", key_proto,
         "uci, the only supported protocol; for xboard engines use an adapter like polyglot"),
    CALL("arg", key_arg, "an argument; at most 64 in all"),
    CALL("args", key_args, "arguments; at most 64 in all"),
    CALL("initstr", key_init, "lines to send to the engine"),
    CALL("tc", key_tc, "moves/min:sec+inc with the first two parts optional, or inf"),
    CALL("st", key_st, "seconds per move, more than 0"),
    CALL("nodes", key_nodes, "a whole number from 1"),
    {"depth", "a whole number from 1 to 1000", ARG_INT, AT(limit.depth), 1, 1000, NULL},
    {"plies", "a whole number from 1 to 1000", ARG_INT, AT(limit.depth), 1, 1000, NULL},
    CALL("timemargin", key_margin, "milliseconds"),
    CALL("restart", key_restart, "on, off or auto"),
    CALL("ponder", key_flag_off, "false; pondering is not supported, because games share CPUs"),
    CALL("whitepov", key_flag_off,
         "false; UCI scores are from the point of view of the side to move"),
    CALL("book", key_flag_off,
         "false; use -openings file=BOOK.bin, so that both engines play the same lines"),
    CALL("bookdepth", key_flag_off, "false; use -openings plies=N"),
    CALL("hg", key_flag_off, "false; hourglass clocks are not supported, use tc="),
    CALL("trust", key_ignored, "true or false"),
    {NULL, NULL, ARG_FLAG, 0, 0, 0, NULL},
};
// clang-format on

// "option.NAME=VALUE", or "option.NAME" for a button.
static bool read_uci_option(MatchArgs *args, EngineArgs *engine, const char *option,
                            const char *word, Error *err) {
    const char *equals = strchr(word, '=');
    size_t size = equals ? (size_t)(equals - word) - 7 : strlen(word) - 7;
    char *name = match_args_own(args, xstrndup(word + 7, size));
    if (engine_args_option(engine, name, equals ? equals + 1 : NULL))
        return true;
    if (strcmp(name, "Threads") == 0)
        return match_args_refuse(err, option, word, "expects a whole number from 1 to 1024");
    return match_args_refuse(err, option, word,
                             "an option needs a name, and an engine has at most 64 options");
}

bool match_args_engine_word(MatchArgs *args, EngineArgs *engine, const char *option,
                            const char *word, Error *err) {
    if (strncmp(word, "option.", 7) == 0)
        return read_uci_option(args, engine, option, word, err);
    if (strncmp(word, "conf=", 5) == 0)
        return engine_conf_read(args, engine, "engines.json", word + 5, err) ||
               error_prefix(err, "%s %s", option, word);
    return arg_read_word(engine_keys, args, engine, option, word, err);
}

// ---- the whole ----------------------------------------------------------------------------------

// Sets `control` to the limit as a user writes it: "10+0.1", "nodes=5000 depth=9".
static void describe_limit(MatchArgs *args, EngineArgs *engine) {
    const MatchLimit *limit = &engine->limit;
    bool clock = limit->base_ms > 0 || limit->increment_ms > 0;
    Str text;
    str_init(&text, 256);
    if (clock)
        str_puts(&text, engine->control);
    if (limit->move_ms)
        str_printf(&text, "%sst=%g", text.size ? " " : "", (double)limit->move_ms / 1000);
    if (limit->nodes)
        str_printf(&text, "%snodes=%lld", text.size ? " " : "", (long long)limit->nodes);
    if (limit->depth)
        str_printf(&text, "%sdepth=%d", text.size ? " " : "", limit->depth);
    engine->control = match_args_own(args, str_steal(&text));
}

bool match_args_engine_complete(MatchArgs *args, EngineArgs *engine, int number, Error *err) {
    const MatchLimit *limit = &engine->limit;
    if (!engine->command)
        return error_field(err, 422, "bad_argument", "-engine",
                           "-engine: engine %d has no cmd=", number);
    if (!limit->base_ms && !limit->increment_ms && !limit->move_ms && !limit->nodes &&
        !limit->depth)
        return error_field(
            err, 422, "bad_argument", "-engine",
            "-engine cmd=%s: no limit; set tc=, st=, nodes= or depth=", engine->command);
    engine->unnamed = !engine->name;
    if (!engine->name) {
        const char *slash = strrchr(engine->command, '/');
        engine->name = slash ? slash + 1 : engine->command;
    }
    engine->argv[0] = (char *)engine->command;
    describe_limit(args, engine);
    return true;
}
