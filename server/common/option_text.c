// See option_text.h.
#include "server/common/option_text.h"

#include <string.h>
#include <strings.h>

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

// Takes one option off the text, without its quotes. NULL: a quote is open at the end, and *word
// holds all that was there.
static const char *word_take(const char *p, Str *word) {
    bool quoted = false;
    for (; *p && (quoted || !is_blank(*p)); p++) {
        if (quoted && *p == '\\' && (p[1] == '"' || p[1] == '\\'))
            str_putc(word, *++p);
        else if (*p == '"')
            quoted = !quoted;
        else
            str_putc(word, *p);
    }
    return quoted ? NULL : p;
}

// Copies at most `max` bytes, without the blanks at both ends; `joined`: several blanks become one.
// Returns the whole length.
static size_t copy(char *out, size_t max, const char *text, size_t size, bool joined) {
    size_t length = 0;
    while (size && is_blank(text[size - 1]))
        size--;
    for (size_t i = 0; i < size; i++) {
        bool skipped = is_blank(text[i]) && (length == 0 || (joined && is_blank(text[i - 1])));
        if (!skipped && length++ < max)
            out[length - 1] = joined && is_blank(text[i]) ? ' ' : text[i];
    }
    out[length < max ? length : max] = 0;
    return length;
}

static bool has_control(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            return true;
    return false;
}

static bool has_word(const char *name, const char *word) {
    size_t n = strlen(word);
    for (const char *p = name; (p = strcasestr(p, word)); p++)
        if ((p == name || p[-1] == ' ') && (!p[n] || p[n] == ' '))
            return true;
    return false;
}

// NULL, or what is wrong with the word.
static const char *split(OptionText *at, const char *word) {
    const char *equals = strchr(word, '=');
    size_t size = equals ? (size_t)(equals - word) : strlen(word);
    size_t name = copy(at->name, OPTION_NAME_MAX, word, size, true);
    size_t value = copy(at->value, OPTION_VALUE_MAX, equals ? equals + 1 : "",
                        equals ? strlen(equals + 1) : 0, false);
    if (!name || !equals)
        return "no UCI option; write Name=value, divided by blanks, and a name with blanks in "
               "quotes: \"Move Overhead\"=10";
    if (name > OPTION_NAME_MAX)
        return "the beginning of a name that is longer than 100 bytes";
    if (!value)
        return "an option without a value; write <empty> for an empty text";
    if (value > OPTION_VALUE_MAX)
        return "an option with a value that is longer than 1000 bytes";
    if (has_control(at->name) || has_control(at->value))
        return "an option with a line break or another control character";
    if (has_word(at->name, "value"))
        return "an option whose name has the word 'value', which UCI does not allow";
    return NULL;
}

bool option_text_next(OptionText *at) {
    Str word scope(str_release);
    str_init(&word, 1 << 16);
    if (at->wrong)
        return false;
    at->rest += strspn(at->rest, " \t");
    *at->name = *at->value = 0;
    if (!*at->rest)
        return false;
    const char *rest = word_take(at->rest, &word);
    at->wrong = split(at, word.data);
    if (!rest)
        at->wrong = "the beginning of an option whose quote \" does not end";
    if (word.overflow)
        at->wrong = "the beginning of an option that is too long";
    at->rest = rest ? rest : at->rest + strlen(at->rest);
    return !at->wrong;
}

static void add_part(Str *out, const char *text) {
    bool plain = *text && !strpbrk(text, " \t\"");
    if (!plain)
        str_putc(out, '"');
    for (; *text; text++) {
        if (!plain && (*text == '"' || *text == '\\'))
            str_putc(out, '\\');
        str_putc(out, *text);
    }
    if (!plain)
        str_putc(out, '"');
}

void option_text_add(Str *out, const char *name, const char *value) {
    if (out->size)
        str_putc(out, ' ');
    add_part(out, name);
    str_putc(out, '=');
    add_part(out, value);
}
