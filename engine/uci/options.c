// The UCI options. To add one, write its setter and its row in the table.
#include "uci/options.h"

#include <string.h>
#include <strings.h>

#include "base/words.h"

enum { OPTION_TEXT_MAX = 4096 }; // a path

typedef enum { OPTION_SPIN, OPTION_CHECK, OPTION_BUTTON, OPTION_STRING } OptionKind;

// The value that a `setoption` command gives to an option.
typedef struct Setting {
    UciOptions *options;
    Search *search;
    int64_t number;   // of a spin; 0 or 1 of a check
    const char *text; // of a string
    char *problem;    // receives the message if the setter fails; "out of memory" before that
    size_t problem_size;
} Setting;

typedef struct UciOption {
    const char *name;
    OptionKind kind;
    int64_t standard, least, most;
    const char *text; // standard value of a string
    bool (*set)(const Setting *setting);
} UciOption;

static bool set_hash(const Setting *setting) {
    return search_set_hash(setting->search, (size_t)setting->number);
}
static bool set_clear_hash(const Setting *setting) {
    search_clear(setting->search);
    return true;
}
static bool set_threads(const Setting *setting) {
    search_set_threads(setting->search, (int)setting->number);
    return true;
}
static bool set_multi_pv(const Setting *setting) {
    setting->options->multi_pv = (int)setting->number;
    return true;
}
static bool set_overhead(const Setting *setting) {
    setting->options->overhead_ms = setting->number;
    return true;
}
static bool set_chess960(const Setting *setting) {
    setting->options->chess960 = setting->number != 0;
    return true;
}
static bool set_ponder(const Setting *setting) {
    (void)setting; // the GUI sends `go ponder` only if this option exists
    return true;
}
static bool set_eval_file(const Setting *setting) {
    UciOptions *options = setting->options;
    Network loaded, old = options->own_net;
    Refusal err;
    const Network *chosen;
    if (!network_choose(setting->text, &loaded, &chosen, &err)) {
        snprintf(setting->problem, setting->problem_size, "EvalFile: %s; the old net stays",
                 err.message);
        return false;
    }
    options->own_net = loaded;
    options->net = chosen == &loaded ? &options->own_net : chosen;
    search_set_network(setting->search, options->net);
    network_release(&old);
    return true;
}

static const UciOption OPTIONS[] = {
    {"Hash", OPTION_SPIN, TT_DEFAULT_MB, 1, TT_MAX_MB, NULL, set_hash},
    {"Clear Hash", OPTION_BUTTON, 0, 0, 0, NULL, set_clear_hash},
    {"Threads", OPTION_SPIN, 1, 1, SEARCH_THREADS_MAX, NULL, set_threads},
    {"MultiPV", OPTION_SPIN, 1, 1, SEARCH_MULTIPV_MAX, NULL, set_multi_pv},
    {"Move Overhead", OPTION_SPIN, 10, 0, 5000, NULL, set_overhead},
    {"Ponder", OPTION_CHECK, 0, 0, 1, NULL, set_ponder},
    {"UCI_Chess960", OPTION_CHECK, 0, 0, 1, NULL, set_chess960},
    {"EvalFile", OPTION_STRING, 0, 0, 0, "<default>", set_eval_file},
};
enum { UCI_OPTION_COUNT = sizeof OPTIONS / sizeof *OPTIONS };

void options_init(UciOptions *options) {
    *options = (UciOptions){.multi_pv = 1, .overhead_ms = 10, .net = network_default()};
}

void options_release(UciOptions *options) {
    network_release(&options->own_net);
}

void options_print(FILE *out) {
    for (const UciOption *o = OPTIONS; o < OPTIONS + UCI_OPTION_COUNT; o++)
        switch (o->kind) {
        case OPTION_SPIN:
            fprintf(out, "option name %s type spin default %lld min %lld max %lld\n", o->name,
                    (long long)o->standard, (long long)o->least, (long long)o->most);
            break;
        case OPTION_CHECK:
            fprintf(out, "option name %s type check default %s\n", o->name,
                    o->standard ? "true" : "false");
            break;
        case OPTION_BUTTON:
            fprintf(out, "option name %s type button\n", o->name);
            break;
        case OPTION_STRING:
            fprintf(out, "option name %s type string default %s\n", o->name, o->text);
            break;
        }
}

// Reads the words up to `end` into `name`, with single blanks between them.
static bool read_name(const char **cursor, const char *end, char *name, size_t size) {
    size_t length = 0;
    name[0] = '\0';
    for (Word word; (word = word_next(cursor)).length > 0 && !word_is(word, end);) {
        if (length + word.length + 2 > size)
            return false;
        if (length > 0)
            name[length++] = ' ';
        memcpy(name + length, word.text, word.length);
        length += word.length;
        name[length] = '\0';
    }
    return length > 0;
}

static const UciOption *option_find(const char *name) {
    for (const UciOption *o = OPTIONS; o < OPTIONS + UCI_OPTION_COUNT; o++)
        if (strcasecmp(o->name, name) == 0)
            return o;
    return NULL;
}

// The rest of the line, without the blanks around it; false if it is too long.
static bool read_text(const char *args, char *text, size_t size) {
    Word first = word_next(&args), last = first;
    for (Word word = first; word.length > 0; word = word_next(&args))
        last = word;
    return word_copy((Word){first.text, (size_t)(last.text + last.length - first.text)}, text,
                     size);
}

static bool read_number(const UciOption *option, Word word, int64_t *value) {
    if (option->kind == OPTION_SPIN)
        return word_to_int(word, option->least, option->most, value);
    *value = word_is(word, "true");
    return word_is(word, "true") || word_is(word, "false");
}

static bool read_value(const UciOption *option, const char *args, Setting *setting, char *text,
                       size_t size) {
    if (option->kind == OPTION_BUTTON)
        return true;
    setting->text = text;
    if (option->kind == OPTION_STRING)
        return read_text(args, text, size);
    return read_number(option, word_next(&args), &setting->number);
}

static void say_what_it_takes(const UciOption *option, char *problem, size_t size) {
    if (option->kind == OPTION_SPIN)
        snprintf(problem, size, "%s needs a number from %lld to %lld", option->name,
                 (long long)option->least, (long long)option->most);
    else if (option->kind == OPTION_STRING)
        snprintf(problem, size, "%s needs a text of at most %d bytes", option->name,
                 OPTION_TEXT_MAX - 1);
    else
        snprintf(problem, size, "%s needs true or false", option->name);
}

bool options_set(UciOptions *options, Search *search, const char *args, char *problem,
                 size_t size) {
    char name[64], text[OPTION_TEXT_MAX];
    Setting setting = {options, search, 0, "", problem, size};
    if (!word_is(word_next(&args), "name") || !read_name(&args, "value", name, sizeof name)) {
        snprintf(problem, size, "expected: name NAME [value VALUE]");
        return false;
    }
    const UciOption *option = option_find(name);
    if (!option) {
        snprintf(problem, size, "unknown option");
        return false;
    }
    if (!read_value(option, args, &setting, text, sizeof text)) {
        say_what_it_takes(option, problem, size);
        return false;
    }
    snprintf(problem, size, "out of memory for %s %lld; the old value stays", option->name,
             (long long)setting.number);
    return option->set(&setting);
}
