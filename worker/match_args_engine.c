// The keys behind -engine and -each: one table, and small functions that each read one value.
#include "match_args_engine.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../server/common/str.h"

enum { DAY_MS = 24 * 3600 * 1000 };

bool match_args_refuse(Error *err, const char *option, const char *value, const char *why) {
    return error_field(err, 422, "bad_argument", option, "%s %s: %s", option, value, why);
}

// ---- values -------------------------------------------------------------------------------------

bool match_args_int(const char *text, long low, long high, int *out) {
    long value;
    if (!parse_long(text, low, high, &value))
        return false;
    *out = (int)value;
    return true;
}

static bool read_ms(const char *text, size_t size, double unit_ms, int64_t *out) {
    char copy[32];
    double value;
    if (size == 0 || size >= sizeof copy)
        return false;
    memcpy(copy, text, size);
    copy[size] = 0;
    if (!parse_double(copy, 0, 7.0 * DAY_MS / unit_ms, &value))
        return false;
    *out = (int64_t)(value * unit_ms + 0.5);
    return true;
}

// "[min:]sec"
static bool read_base(const char *text, size_t size, int64_t *out) {
    int64_t minutes = 0, seconds;
    const char *colon = memchr(text, ':', size);
    if (colon && !read_ms(text, (size_t)(colon - text), 60000, &minutes))
        return false;
    const char *rest = colon ? colon + 1 : text;
    if (!read_ms(rest, (size_t)(text + size - rest), 1000, &seconds))
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
        !read_ms(text + base + 1, strlen(text + base + 1), 1000, &limit->increment_ms))
        return false;
    return read_base(text, base, &limit->base_ms) && limit->base_ms + limit->increment_ms > 0;
}

// ---- keys of -engine and -each ------------------------------------------------------------------

typedef struct EngineKey {
    const char *name;
    const char *wants;
    bool (*read)(MatchArgs *args, EngineArgs *engine, const char *value);
} EngineKey;

static bool key_cmd(MatchArgs *args, EngineArgs *engine, const char *value) {
    (void)args;
    engine->command = value;
    return *value;
}
static bool key_name(MatchArgs *args, EngineArgs *engine, const char *value) {
    (void)args;
    engine->name = value;
    return *value;
}
static bool key_dir(MatchArgs *args, EngineArgs *engine, const char *value) {
    (void)args;
    engine->directory = value;
    return *value;
}
static bool key_proto(MatchArgs *args, EngineArgs *engine, const char *value) {
    (void)args;
    (void)engine;
    return strcmp(value, "uci") == 0;
}
static bool key_arg(MatchArgs *args, EngineArgs *engine, const char *value) {
    if (engine->argc == MATCH_ENGINE_ARGS_MAX)
        return false;
    engine->argv[++engine->argc] = match_args_own(args, xstrdup(value));
    return true;
}
static bool key_args(MatchArgs *args, EngineArgs *engine, const char *value) {
    for (;;) {
        value += strspn(value, " ");
        size_t size = strcspn(value, " ");
        if (!size)
            return true;
        if (!key_arg(args, engine, match_args_own(args, xstrndup(value, size))))
            return false;
        value += size;
    }
}
static bool key_tc(MatchArgs *args, EngineArgs *engine, const char *value) {
    (void)args;
    engine->control = value;
    return match_limit_parse_tc(value, &engine->limit);
}
static bool key_st(MatchArgs *args, EngineArgs *engine, const char *value) {
    (void)args;
    return read_ms(value, strlen(value), 1000, &engine->limit.move_ms) && engine->limit.move_ms > 0;
}
static bool key_nodes(MatchArgs *args, EngineArgs *engine, const char *value) {
    long nodes;
    (void)args;
    if (!parse_long(value, 1, LONG_MAX / 2, &nodes))
        return false;
    engine->limit.nodes = nodes;
    return true;
}
static bool key_depth(MatchArgs *args, EngineArgs *engine, const char *value) {
    (void)args;
    return match_args_int(value, 1, 1000, &engine->limit.depth);
}
static bool key_margin(MatchArgs *args, EngineArgs *engine, const char *value) {
    (void)args;
    long margin;
    if (!parse_long(value, 0, DAY_MS, &margin))
        return false;
    engine->limit.margin_ms = margin;
    return true;
}
static bool key_restart(MatchArgs *args, EngineArgs *engine, const char *value) {
    (void)args;
    engine->restart = strcmp(value, "on") == 0;
    return engine->restart || strcmp(value, "off") == 0 || strcmp(value, "auto") == 0;
}

static const EngineKey engine_keys[] = {
    {"cmd", "a program", key_cmd},
    {"name", "a name", key_name},
    {"dir", "a folder", key_dir},
    {"proto", "uci, the only protocol here", key_proto},
    {"arg", "an argument, at most 64 of them", key_arg},
    {"args", "arguments, at most 64 of them", key_args},
    {"tc", "moves/min:sec+inc with the first two parts optional, or inf", key_tc},
    {"st", "seconds a move, above 0", key_st},
    {"nodes", "a whole number from 1", key_nodes},
    {"depth", "a whole number from 1 to 1000", key_depth},
    {"timemargin", "milliseconds", key_margin},
    {"restart", "on, off or auto", key_restart},
};

static bool read_uci_option(MatchArgs *args, EngineArgs *engine, const char *option,
                            const char *word, Error *err) {
    const char *equals = strchr(word, '=');
    char *name = match_args_own(args, xstrndup(word + 7, (size_t)(equals - word) - 7));
    int at = 0;
    while (at < engine->option_count && strcmp(engine->options[at].name, name) != 0)
        at++;
    if (!*name || at == MATCH_ENGINE_OPTIONS_MAX)
        return match_args_refuse(err, option, word,
                                 "an option needs a name, and there may be 64 of them");
    if (strcmp(name, "Threads") == 0 && !match_args_int(equals + 1, 1, 1024, &engine->threads))
        return match_args_refuse(err, option, word, "wants a whole number from 1 to 1024");
    engine->options[at] = (EngineOption){name, equals + 1};
    engine->option_count += at == engine->option_count;
    return true;
}

bool match_args_engine_word(MatchArgs *args, EngineArgs *engine, const char *option,
                            const char *word, Error *err) {
    const char *equals = strchr(word, '=');
    if (!equals)
        return match_args_refuse(err, option, word, "is not of the form key=value");
    if (strncmp(word, "option.", 7) == 0)
        return read_uci_option(args, engine, option, word, err);
    for (size_t i = 0; i < sizeof engine_keys / sizeof *engine_keys; i++) {
        const EngineKey *key = &engine_keys[i];
        if (strncmp(key->name, word, (size_t)(equals - word)) != 0 || key->name[equals - word] != 0)
            continue;
        if (key->read(args, engine, equals + 1))
            return true;
        return error_field(err, 422, "bad_argument", option, "%s %s: %s wants %s", option, word,
                           key->name, key->wants);
    }
    return match_args_refuse(err, option, word, "no such key");
}

// ---- the whole ----------------------------------------------------------------------------------

// The limit as people write it: "10+0.1", "nodes=5000 depth=9".
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
            "-engine cmd=%s: no limit; give tc=, st=, nodes= or depth=", engine->command);
    if (!engine->name) {
        const char *slash = strrchr(engine->command, '/');
        engine->name = slash ? slash + 1 : engine->command;
    }
    engine->argv[0] = (char *)engine->command;
    describe_limit(args, engine);
    return true;
}
