// See uci_option.h.
#include "server/common/uci_option.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "server/common/game_memory.h"
#include "server/common/utf8.h"

enum { NEAREST = 3, CHOICES_SHOWN = 400 };

// ---- a line -------------------------------------------------------------------------------------

typedef struct Word {
    const char *text;
    size_t size;
} Word;

static bool is_blank(char c) {
    return (unsigned char)c <= ' ';
}

// Takes the next word off *line; size 0 at the end.
static Word next_word(const char **line, const char *end) {
    const char *p = *line;
    while (p < end && is_blank(*p))
        p++;
    const char *start = p;
    while (p < end && !is_blank(*p))
        p++;
    *line = p;
    return (Word){start, (size_t)(p - start)};
}

static bool word_is(Word word, const char *text) {
    return word.size == strlen(text) && memcmp(word.text, text, word.size) == 0;
}

static const char *const types[] = {[UCI_TYPE_CHECK] = "check",
                                    [UCI_TYPE_SPIN] = "spin",
                                    [UCI_TYPE_COMBO] = "combo",
                                    [UCI_TYPE_BUTTON] = "button",
                                    [UCI_TYPE_STRING] = "string"};
enum { TYPES = sizeof types / sizeof *types };

static UciType type_of(Word word) {
    for (int i = 1; i < TYPES; i++)
        if (word_is(word, types[i]))
            return (UciType)i;
    return UCI_TYPE_OTHER;
}

// Appends a word of a name. False: the name is too long.
static bool name_add(char *name, size_t *size, Word word) {
    if (*size + (*size > 0) + word.size > OPTION_NAME_MAX)
        return false;
    if (*size)
        name[(*size)++] = ' ';
    memcpy(name + *size, word.text, word.size);
    *size += word.size;
    return true;
}

// The name ends before "type" and a type, so that "type" may be a word of it. If the line has no
// type that is known, it ends before the first "type". False: it is too long or empty.
static bool read_name(const char **line, const char *end, UciOption *out) {
    size_t size = 0, kept = 0;
    bool too_long = false;
    for (Word word = next_word(line, end); word.size; word = next_word(line, end)) {
        const char *after = *line;
        if (word_is(word, "type")) {
            out->type = type_of(next_word(&after, end));
            kept = kept ? kept : too_long ? 0 : size;
        }
        if (out->type != UCI_TYPE_OTHER) {
            kept = too_long ? 0 : size;
            *line = after;
            break;
        }
        too_long |= !name_add(out->name, &size, word);
    }
    size = out->type == UCI_TYPE_OTHER && !kept && !too_long ? size : kept;
    out->name[size] = 0;
    return size > 0;
}

static void read_bound(Word word, int64_t *out) {
    char text[24] = "";
    long value;
    if (word.size < sizeof text) {
        memcpy(text, word.text, word.size);
        if (parse_long(text, INT64_MIN, INT64_MAX, &value))
            *out = value;
    }
}

static void read_rest(const char *line, const char *end, UciOption *out) {
    for (Word word = next_word(&line, end); word.size; word = next_word(&line, end)) {
        if (out->type == UCI_TYPE_SPIN && word_is(word, "min"))
            read_bound(next_word(&line, end), &out->min);
        else if (out->type == UCI_TYPE_SPIN && word_is(word, "max"))
            read_bound(next_word(&line, end), &out->max);
        else if (out->type == UCI_TYPE_COMBO && word_is(word, "var")) {
            out->vars = word.text;
            out->vars_size = (size_t)(end - word.text);
            return;
        }
    }
}

bool uci_option_read(const char *line, size_t size, UciOption *out) {
    const char *rest = line, *end = line + size;
    *out = (UciOption){.min = INT64_MIN, .max = INT64_MAX, .vars = ""};
    if (!word_is(next_word(&rest, end), "option") || !word_is(next_word(&rest, end), "name") ||
        !read_name(&rest, end, out))
        return false;
    read_rest(rest, end, out);
    return true;
}

// ---- a list -------------------------------------------------------------------------------------

// The next line of a list, without its newline; size 0 at the end.
static Word next_line(const char **list) {
    const char *start = *list;
    size_t size = strcspn(start, "\n");
    *list = start + size + (start[size] == '\n');
    return (Word){start, size};
}

static int lines_of(const char *list) {
    int lines = 0;
    for (; (list = strchr(list, '\n')); list++)
        lines++;
    return lines;
}

bool uci_list_add(Str *list, const char *line, size_t size) {
    UciOption ignored;
    size = size < UCI_LIST_LINE_MAX ? size : UCI_LIST_LINE_MAX;
    if (!uci_option_read(line, size, &ignored))
        return true;
    while (is_blank(*line)) {
        line++;
        size--;
    }
    while (is_blank(line[size - 1]))
        size--;
    char *plain scope(free_ptr) = xmalloc(size);
    for (size_t i = 0; i < size; i++)
        plain[i] = is_blank(line[i]) || line[i] == 127 ? ' ' : line[i];
    char *clean scope(free_ptr) = utf8_clean(plain, size);
    size = strlen(clean);
    if (size > UCI_LIST_LINE_MAX)
        return true; // its bytes were no text: nothing can be said about it
    if (list->size + size + 1 > UCI_LIST_BYTES_MAX || lines_of(list->data) >= UCI_LIST_LINES_MAX)
        return false;
    str_add(list, clean, size);
    str_putc(list, '\n');
    return true;
}

static bool bad(Error *err, const char *what) {
    return error_field(err, 422, "bad_request", "options", "options: %s", what);
}

bool uci_list_check(const char *list, Error *err) {
    size_t size = strlen(list);
    if (size > UCI_LIST_BYTES_MAX || lines_of(list) > UCI_LIST_LINES_MAX)
        return bad(err, "a list has at most 64 KiB and 1024 lines");
    if (size && list[size - 1] != '\n')
        return bad(err, "each line of a list ends with a newline");
    char *clean scope(free_ptr) = utf8_clean(list, size);
    if (strcmp(clean, list) != 0 || strchr(list, '\t'))
        return bad(err, "a list is text without control characters");
    for (const char *rest = list; *rest;) {
        Word line = next_line(&rest);
        if (line.size < 7 || line.size > UCI_LIST_LINE_MAX || memcmp(line.text, "option ", 7) != 0)
            return bad(err,
                       "each line of a list begins with 'option ', and has at most 4096 bytes");
    }
    return true;
}

// ---- whether a value fits -----------------------------------------------------------------------

static bool refuse(Error *err, const char *name, const char *value, const char *what) {
    return error_set(err, 422, "option_value", "the option %s cannot have the value '%.100s': %s",
                     name, value, what);
}

static int letter(char c) {
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

// Levenshtein's distance, without case.
static int distance(const char *a, const char *b) {
    int row[OPTION_NAME_MAX + 1], n = (int)strlen(b);
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 0; a[i]; i++) {
        int corner = row[0];
        row[0] = i + 1;
        for (int j = 0; j < n; j++) {
            int change = corner + (letter(a[i]) != letter(b[j]));
            corner = row[j + 1];
            int least = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            row[j + 1] = change < least ? change : least;
        }
    }
    return row[n];
}

typedef struct Nearest {
    int count, distance[NEAREST];
    char names[NEAREST][OPTION_NAME_MAX + 1];
} Nearest;

static void nearest_add(Nearest *nearest, const char *wanted, const char *name) {
    int mine = distance(wanted, name), at = nearest->count;
    while (at > 0 && nearest->distance[at - 1] > mine)
        at--;
    if (at == NEAREST)
        return;
    nearest->count += nearest->count < NEAREST;
    for (int i = nearest->count - 1; i > at; i--) {
        nearest->distance[i] = nearest->distance[i - 1];
        memcpy(nearest->names[i], nearest->names[i - 1], sizeof *nearest->names);
    }
    nearest->distance[at] = mine;
    snprintf(nearest->names[at], sizeof *nearest->names, "%s", name);
}

static bool missing(const char *list, const char *name, Error *err) {
    Nearest nearest = {0};
    for (const char *rest = list; *rest;) {
        UciOption option;
        Word line = next_line(&rest);
        if (uci_option_read(line.text, line.size, &option) && option.type != UCI_TYPE_BUTTON)
            nearest_add(&nearest, name, option.name);
    }
    if (!nearest.count)
        return error_set(err, 422, "option_missing",
                         "the engine lists no options, so %s cannot be set", name);
    error_set(err, 422, "option_missing", "the engine has no option %s; its nearest options are",
              name);
    for (int i = 0; i < nearest.count; i++) {
        size_t n = strlen(err->message);
        snprintf(err->message + n, sizeof err->message - n, "%s %s", i ? "," : "",
                 nearest.names[i]);
    }
    return false;
}

// The next choice of a combo, which may be empty. False at the end.
static bool next_choice(const char **vars, const char *end, Word *choice) {
    *choice = (Word){"", 0};
    if (!word_is(next_word(vars, end), "var"))
        return false;
    for (const char *p = *vars;; *vars = p) {
        Word word = next_word(&p, end);
        if (!word.size || word_is(word, "var"))
            return true;
        choice->text = choice->size ? choice->text : word.text;
        choice->size = (size_t)(word.text + word.size - choice->text);
    }
}

static bool combo_fits(const UciOption *option, const char *value, Error *err) {
    const char *vars = option->vars, *end = vars + option->vars_size;
    Word choice;
    Str shown scope(str_release);
    str_init(&shown, CHOICES_SHOWN);
    while (next_choice(&vars, end, &choice)) {
        if (choice.size == strlen(value) && strncasecmp(choice.text, value, choice.size) == 0)
            return true;
        str_printf(&shown, "%s%.*s", shown.size ? ", " : "", (int)choice.size, choice.text);
    }
    if (!shown.size)
        return true; // a combo without choices
    char *clean scope(free_ptr) = utf8_clean(shown.data, shown.size);
    char *what scope(free_ptr) =
        xasprintf("its choices are %s%s", clean, shown.overflow ? " …" : "");
    return refuse(err, option->name, value, what);
}

static bool spin_fits(const UciOption *option, const char *value, Error *err) {
    long number;
    char what[100];
    if (parse_long(value, option->min, option->max, &number))
        return true;
    if (option->min == INT64_MIN && option->max == INT64_MAX)
        return refuse(err, option->name, value, "it is a whole number");
    if (option->max == INT64_MAX)
        snprintf(what, sizeof what, "it is a whole number from %lld", (long long)option->min);
    else if (option->min == INT64_MIN)
        snprintf(what, sizeof what, "it is a whole number up to %lld", (long long)option->max);
    else
        snprintf(what, sizeof what, "it is a whole number from %lld to %lld",
                 (long long)option->min, (long long)option->max);
    return refuse(err, option->name, value, what);
}

static bool value_fits(const UciOption *option, const char *value, Error *err) {
    switch (option->type) {
    case UCI_TYPE_CHECK:
        return strcmp(value, "true") == 0 || strcmp(value, "false") == 0 ||
               refuse(err, option->name, value, "it is true or false");
    case UCI_TYPE_SPIN:
        return spin_fits(option, value, err);
    case UCI_TYPE_COMBO:
        return combo_fits(option, value, err);
    case UCI_TYPE_BUTTON:
        return refuse(err, option->name, value, "it is a button, which has no value");
    default:
        return true;
    }
}

static bool is_usual_hash(const char *name, const char *value) {
    long mib;
    return strcasecmp(name, "Hash") == 0 &&
           parse_long(value, HASH_DEFAULT_MIB, HASH_DEFAULT_MIB, &mib);
}

// An engine that lists a name twice may mean either.
bool uci_list_fits(const char *list, const char *name, const char *value, Error *err) {
    bool found = false;
    for (const char *rest = list; *rest;) {
        UciOption option;
        Word line = next_line(&rest);
        if (!uci_option_read(line.text, line.size, &option) || strcasecmp(option.name, name) != 0)
            continue;
        if (value_fits(&option, value, err))
            return true;
        found = true;
    }
    return !found && (is_usual_hash(name, value) || missing(list, name, err));
}

bool uci_list_fits_game(const char *list, int threads, bool chess960, Error *err) {
    char text[16];
    snprintf(text, sizeof text, "%d", threads);
    return (threads == 1 || uci_list_fits(list, "Threads", text, err)) &&
           (!chess960 || uci_list_fits(list, "UCI_Chess960", "true", err));
}

bool uci_list_fits_text(const char *list, const char *options, Error *err) {
    OptionText at = {.rest = options};
    while (option_text_next(&at))
        if (!uci_list_fits(list, at.name, at.value, err))
            return false;
    return true;
}
