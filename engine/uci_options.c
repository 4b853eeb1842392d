// UCI options. To add one, write its setter and its row.
#include "uci_options.h"

#include <string.h>
#include <strings.h>

#include "words.h"

typedef enum { OPTION_SPIN, OPTION_CHECK, OPTION_BUTTON } OptionKind;

typedef struct Option {
    const char *name;
    OptionKind kind;
    int64_t standard, least, most;
    bool (*set)(UciOptions *options, Search *search, int64_t value); // false: no memory
} Option;

static bool set_hash(UciOptions *options, Search *search, int64_t value) {
    (void)options;
    return search_set_hash(search, (size_t)value);
}
static bool set_clear_hash(UciOptions *options, Search *search, int64_t value) {
    (void)options, (void)value;
    search_clear(search);
    return true;
}
static bool set_threads(UciOptions *options, Search *search, int64_t value) {
    (void)options;
    search_set_threads(search, (int)value);
    return true;
}
static bool set_multi_pv(UciOptions *options, Search *search, int64_t value) {
    (void)search;
    options->multi_pv = (int)value;
    return true;
}
static bool set_overhead(UciOptions *options, Search *search, int64_t value) {
    (void)search;
    options->overhead_ms = value;
    return true;
}
static bool set_chess960(UciOptions *options, Search *search, int64_t value) {
    (void)search;
    options->chess960 = value != 0;
    return true;
}
static bool set_ponder(UciOptions *options, Search *search, int64_t value) {
    (void)options, (void)search, (void)value; // only tells the GUI that it may send `go ponder`
    return true;
}

static const Option OPTIONS[] = {
    {"Hash", OPTION_SPIN, TT_DEFAULT_MB, 1, TT_MAX_MB, set_hash},
    {"Clear Hash", OPTION_BUTTON, 0, 0, 0, set_clear_hash},
    {"Threads", OPTION_SPIN, 1, 1, SEARCH_THREADS_MAX, set_threads},
    {"MultiPV", OPTION_SPIN, 1, 1, SEARCH_MULTIPV_MAX, set_multi_pv},
    {"Move Overhead", OPTION_SPIN, 10, 0, 5000, set_overhead},
    {"Ponder", OPTION_CHECK, 0, 0, 1, set_ponder},
    {"UCI_Chess960", OPTION_CHECK, 0, 0, 1, set_chess960},
};
enum { OPTION_COUNT = sizeof OPTIONS / sizeof *OPTIONS };

void options_init(UciOptions *options) {
    *options = (UciOptions){.multi_pv = 1, .overhead_ms = 10};
}

void options_print(FILE *out) {
    for (const Option *o = OPTIONS; o < OPTIONS + OPTION_COUNT; o++)
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

static const Option *option_find(const char *name) {
    for (const Option *o = OPTIONS; o < OPTIONS + OPTION_COUNT; o++)
        if (strcasecmp(o->name, name) == 0)
            return o;
    return NULL;
}

static bool read_value(const Option *option, Word word, int64_t *value) {
    *value = 0;
    if (option->kind == OPTION_BUTTON)
        return true;
    if (option->kind == OPTION_SPIN)
        return word_to_int(word, option->least, option->most, value);
    *value = word_is(word, "true");
    return word_is(word, "true") || word_is(word, "false");
}

bool options_set(UciOptions *options, Search *search, const char *args, char *problem,
                 size_t size) {
    char name[64];
    int64_t value;
    if (!word_is(word_next(&args), "name") || !read_name(&args, "value", name, sizeof name)) {
        snprintf(problem, size, "expected: name NAME [value VALUE]");
        return false;
    }
    const Option *option = option_find(name);
    if (!option) {
        snprintf(problem, size, "there is no option of this name");
        return false;
    }
    if (!read_value(option, word_next(&args), &value)) {
        if (option->kind == OPTION_SPIN)
            snprintf(problem, size, "%s takes a number from %lld to %lld", option->name,
                     (long long)option->least, (long long)option->most);
        else
            snprintf(problem, size, "%s takes true or false", option->name);
        return false;
    }
    if (option->set(options, search, value))
        return true;
    snprintf(problem, size, "no memory for %s %lld; the old value stays", option->name,
             (long long)value);
    return false;
}
