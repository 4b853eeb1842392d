// See args_table.h.
#include "worker/match_cli/args_table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/common/str.h"

enum { NAME_MAX_SIZE = 48 };

char *match_args_own(MatchArgs *args, char *text) {
    size_t count = (size_t)args->owned_count + 1;
    args->owned = xrealloc(args->owned, count * sizeof *args->owned);
    return args->owned[args->owned_count++] = text;
}

bool match_args_refuse(Error *err, const char *option, const char *value, const char *why) {
    return error_field(err, 422, "bad_argument", option, "%s %s: %s", option, value, why);
}

bool match_args_int(const char *text, long low, long high, int *out) {
    long value;
    if (!parse_long(text, low, high, &value))
        return false;
    *out = (int)value;
    return true;
}

bool match_args_ms(const char *text, size_t size, double unit_ms, int64_t *out) {
    const double week_ms = 7.0 * 24 * 3600 * 1000;
    char copy[32];
    double value;
    if (size == 0 || size >= sizeof copy)
        return false;
    memcpy(copy, text, size);
    copy[size] = 0;
    if (!parse_double(copy, 0, week_ms / unit_ms, &value))
        return false;
    *out = (int64_t)(value * unit_ms + 0.5);
    return true;
}

static bool read_bool(const char *value, bool *out) {
    *out = strcmp(value, "true") == 0;
    return *out || strcmp(value, "false") == 0;
}

bool arg_read(const Arg *arg, MatchArgs *args, void *base, const char *value) {
    void *place = (unsigned char *)base + arg->offset;
    if (arg->kind == ARG_MAYBE)
        return arg->read(args, base, value);
    if (arg->kind == ARG_FLAG) {
        *(bool *)place = true;
        return !value;
    }
    if (!value)
        return false;
    switch (arg->kind) {
    case ARG_BOOL:
        return read_bool(value, (bool *)place);
    case ARG_INT:
        return match_args_int(value, (long)arg->low, (long)arg->high, (int *)place);
    case ARG_REAL:
        return parse_double(value, arg->low, arg->high, (double *)place);
    case ARG_TEXT:
        *(const char **)place = value;
        return *value;
    default:
        return arg->read(args, base, value);
    }
}

const Arg *arg_find(const Arg *rows, const char *word, size_t size) {
    for (; rows->name; rows++)
        if (strlen(rows->name) == size && memcmp(rows->name, word, size) == 0)
            return rows;
    return NULL;
}

static bool refuse_key(const Arg *rows, const char *option, const char *word, size_t size,
                       Error *err) {
    const char *names[64];
    int count = 0;
    scope(free_ptr) char *key = xstrndup(word, size);
    for (; count < 64 && rows[count].name; count++)
        names[count] = rows[count].name;
    const char *nearest = nearest_name(key, names, count);
    return error_field(err, 422, "bad_argument", option, "%s %s: no such key%s%s%s", option, word,
                       nearest ? "; did you mean " : "", nearest ? nearest : "",
                       nearest ? "=?" : "");
}

bool arg_read_word(const Arg *rows, MatchArgs *args, void *base, const char *option,
                   const char *word, Error *err) {
    const char *equals = strchr(word, '=');
    if (!equals)
        return match_args_refuse(err, option, word, "is not of the form key=value");
    const Arg *key = arg_find(rows, word, (size_t)(equals - word));
    if (!key)
        return refuse_key(rows, option, word, (size_t)(equals - word), err);
    if (arg_read(key, args, base, equals + 1))
        return true;
    return error_field(err, 422, "bad_argument", option, "%s %s: %s expects %s", option, word,
                       key->name, key->wants);
}

// ---- similar names ------------------------------------------------------------------------------

// The number of edits that turn one name into the other (Levenshtein), without regard to case.
static int distance(const char *a, const char *b) {
    int row[NAME_MAX_SIZE + 1];
    int length = (int)strnlen(b, NAME_MAX_SIZE);
    for (int j = 0; j <= length; j++)
        row[j] = j;
    for (int i = 1; a[i - 1] && i <= NAME_MAX_SIZE; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= length; j++) {
            int same = strncasecmp(&a[i - 1], &b[j - 1], 1) == 0 ? diagonal : diagonal + 1;
            diagonal = row[j];
            int least = row[j - 1] < row[j] ? row[j - 1] + 1 : row[j] + 1;
            row[j] = same < least ? same : least;
        }
    }
    return row[length];
}

const char *nearest_name(const char *word, const char *const *names, int count) {
    const char *best = NULL;
    int least = (int)strnlen(word, NAME_MAX_SIZE) / 3 + 1;
    for (int i = 0; i < count; i++) {
        int edits = distance(word, names[i]);
        if (edits <= least && (!best || edits < least)) {
            best = names[i];
            least = edits;
        }
    }
    return best;
}

bool engine_args_add(MatchArgs *args, EngineArgs *engine, const char *word) {
    if (engine->argc == MATCH_ENGINE_ARGS_MAX)
        return false;
    engine->argv[++engine->argc] = match_args_own(args, xstrdup(word));
    return true;
}

bool engine_args_option(EngineArgs *engine, const char *name, const char *value) {
    int at = 0;
    while (at < engine->option_count && strcmp(engine->options[at].name, name) != 0)
        at++;
    if (!*name || at == MATCH_ENGINE_OPTIONS_MAX)
        return false;
    if (strcmp(name, "Threads") == 0 &&
        (!value || !match_args_int(value, 1, 1024, &engine->threads)))
        return false;
    engine->options[at] = (EngineOption){name, value};
    engine->option_count += at == engine->option_count;
    return true;
}
