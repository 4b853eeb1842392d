// See engine_conf.h.
#include "worker/match_cli/engine_conf.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/file.h"
#include "server/common/str.h"

// A copy of a string member, which `args` owns; NULL if the member is empty or not a string.
static const char *text_of(MatchArgs *args, const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text && *text ? match_args_own(args, xstrdup(text)) : NULL;
}

static bool add_arguments(MatchArgs *args, EngineArgs *engine, const json_t *list) {
    size_t i;
    json_t *item;
    json_array_foreach (list, i, item) {
        if (!json_is_string(item) || !engine_args_add(args, engine, json_string_value(item)))
            return false;
    }
    return true;
}

static void add_init(MatchArgs *args, EngineArgs *engine, const json_t *list) {
    Str text;
    size_t i;
    json_t *item;
    str_init(&text, 1 << 16);
    str_puts(&text, engine->init ? engine->init : "");
    json_array_foreach (list, i, item) {
        str_puts(&text, json_is_string(item) ? json_string_value(item) : "");
        str_putc(&text, '\n');
    }
    engine->init = match_args_own(args, str_steal(&text));
}

// A number, a boolean or a string in the form of UCI; NULL (a button) for any other value.
static const char *value_text(MatchArgs *args, const json_t *value) {
    if (json_is_string(value))
        return match_args_own(args, xstrdup(json_string_value(value)));
    if (json_is_integer(value))
        return match_args_own(args, xasprintf("%lld", (long long)json_integer_value(value)));
    if (json_is_real(value))
        return match_args_own(args, xasprintf("%g", json_real_value(value)));
    return json_is_boolean(value) ? (json_is_true(value) ? "true" : "false") : NULL;
}

// Options that have their default value are not sent to the engine.
static bool add_options(MatchArgs *args, EngineArgs *engine, const json_t *list) {
    size_t i;
    json_t *item;
    json_array_foreach (list, i, item) {
        const json_t *value = json_object_get(item, "value");
        const char *type = json_string_value(json_object_get(item, "type"));
        const char *name = text_of(args, item, "name");
        if (!name)
            return false;
        if (json_equal(value, json_object_get(item, "default")) ||
            (type && strcmp(type, "button") == 0))
            continue;
        if (!engine_args_option(engine, name, value_text(args, value)))
            return false;
    }
    return true;
}

static const json_t *find(const json_t *list, const char *name) {
    size_t i;
    json_t *item;
    json_array_foreach (list, i, item) {
        const char *its = json_string_value(json_object_get(item, "name"));
        if (its && strcmp(its, name) == 0)
            return item;
    }
    return NULL;
}

bool engine_conf_parse(MatchArgs *args, EngineArgs *engine, const char *text, size_t size,
                       const char *name, Error *err) {
    json_error_t problem;
    json_auto_t *list = json_loadb(text, size, JSON_REJECT_DUPLICATES, &problem);
    if (!list)
        return error_set(err, 422, "bad_conf", "line %d: %s", problem.line, problem.text);
    const json_t *found = find(list, name);
    if (!found)
        return error_set(err, 422, "bad_conf", "no engine is called %s", name);
    const char *protocol = json_string_value(json_object_get(found, "protocol"));
    if (protocol && strcmp(protocol, "uci") != 0)
        return error_set(err, 422, "bad_conf", "%s uses the protocol %s; only uci is supported",
                         name, protocol);
    const char *restart = json_string_value(json_object_get(found, "restart"));
    engine->name = match_args_own(args, xstrdup(name));
    engine->command = text_of(args, found, "command");
    engine->directory = text_of(args, found, "workingDirectory");
    engine->errors_file = text_of(args, found, "stderrFile");
    engine->restart = restart && strcmp(restart, "on") == 0;
    if (json_array_size(json_object_get(found, "initStrings")))
        add_init(args, engine, json_object_get(found, "initStrings"));
    if (!engine->command)
        return error_set(err, 422, "bad_conf", "%s has no command", name);
    return (add_arguments(args, engine, json_object_get(found, "arguments")) &&
            add_options(args, engine, json_object_get(found, "options"))) ||
           error_set(err, 422, "bad_conf", "%s: arguments or options are not valid", name);
}

bool engine_conf_read(MatchArgs *args, EngineArgs *engine, const char *file, const char *name,
                      Error *err) {
    size_t size;
    scope(free_ptr) char *text = file_read(file, ENGINE_CONF_MAX, &size, err);
    return text && (engine_conf_parse(args, engine, text, size, name, err) ||
                    error_prefix(err, "%s", file));
}
