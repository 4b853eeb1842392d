// See game_text.h.
#include "server/ledger/game_text.h"

#include <string.h>

static const char *const names[LIST_COUNT] = {"clock_ms", "scores", "depths", "nodes"};

enum { DIGITS_MAX = 18 }; // more may not fit an int64_t

static const char *skip_blanks(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

// Returns the end of the number, or NULL.
static const char *read_number(const char *p, const char *end, int64_t *out) {
    if (end - p >= 4 && memcmp(p, "null", 4) == 0) {
        *out = GAME_LIST_NULL;
        return p + 4;
    }
    bool negative = p < end && *p == '-';
    int64_t value = 0;
    int digits = 0;
    for (p += negative; p < end && *p >= '0' && *p <= '9' && digits < DIGITS_MAX; digits++)
        value = 10 * value + (*p++ - '0');
    *out = negative ? -value : value;
    return digits ? p : NULL; // a digit too many stands where the list wants its comma
}

// `p` is behind the bracket that opens the list. Returns the end of the list, or NULL.
static const char *read_list(const char *p, const char *end, int64_t *values, int *count) {
    *count = 0;
    p = skip_blanks(p, end);
    if (p < end && *p == ']')
        return p + 1;
    while (*count < GAME_PLIES_MAX) {
        p = read_number(skip_blanks(p, end), end, &values[*count]);
        if (!p)
            return NULL;
        ++*count;
        p = skip_blanks(p, end);
        if (p < end && *p == ']')
            return p + 1;
        if (p == end || *p++ != ',')
            return NULL;
    }
    return NULL;
}

static bool is_named(const char *name, size_t size, const char *text) {
    return strlen(text) == size && memcmp(text, name, size) == 0;
}

static int list_of(const char *name, size_t size) {
    for (int i = 0; i < LIST_COUNT; i++)
        if (is_named(name, size, names[i]))
            return i;
    return LIST_COUNT;
}

static bool is_of_moves(char c) {
    return c == ' ' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// `p` is behind the quote that begins the text. Returns the quote that ends it, or NULL.
static const char *read_moves(const char *p, const char *end, char out[GAME_MOVES_TEXT_MAX]) {
    const char *start = p;
    while (p < end && is_of_moves(*p))
        p++;
    size_t size = (size_t)(p - start);
    if (p == end || *p != '"' || size >= GAME_MOVES_TEXT_MAX)
        return NULL;
    memcpy(out, start, size);
    out[size] = 0;
    return p;
}

// `p` is behind the quote that begins a string. Returns the quote that ends it, or `end`.
static const char *string_end(const char *p, const char *end) {
    while (p < end && *p != '"')
        p += *p == '\\' && p + 1 < end ? 2 : 1;
    return p;
}

// What is kept of the line is moved to its beginning.
typedef struct Line {
    const char *end, *from; // not moved yet: from here on
    char *to;
} Line;

static void keep_until(Line *line, const char *p) {
    size_t size = (size_t)(p - line->from);
    memmove(line->to, line->from, size);
    line->to += size;
    line->from = p;
}

// Returns where to go on, behind the list or in front of it.
static const char *take_list(Line *line, const char *p, int list, GameText *out) {
    if (out->counts[list] >= 0) // once more: the JSON library refuses that
        return p;
    const char *after = read_list(p + 1, line->end, out->values[list], &out->counts[list]);
    if (!after) {
        out->counts[list] = -1;
        return p;
    }
    keep_until(line, p);
    *line->to++ = '0';
    return line->from = after;
}

static const char *take_moves(Line *line, const char *p, GameText *out) {
    const char *quote = out->has_moves ? NULL : read_moves(p + 1, line->end, out->moves);
    if (!quote)
        return string_end(p + 1, line->end);
    out->has_moves = true;
    keep_until(line, p + 1);
    return line->from = quote;
}

// `p` is behind a string that may be the name of a member.
static const char *take_member(Line *line, const char *name, size_t size, const char *p,
                               GameText *out) {
    int list = list_of(name, size);
    bool moves = is_named(name, size, "moves");
    p = skip_blanks(p, line->end);
    if ((list == LIST_COUNT && !moves) || p == line->end || *p != ':')
        return p;
    p = skip_blanks(p + 1, line->end);
    if (p < line->end && *p == '[' && !moves)
        return take_list(line, p, list, out);
    if (p < line->end && *p == '"' && moves) {
        p = take_moves(line, p, out);
        return p < line->end ? p + 1 : p;
    }
    return p;
}

size_t game_text_take(char *text, size_t size, GameText *out) {
    Line line = {.end = text + size, .from = text, .to = text};
    int depth = 0;
    out->has_moves = false;
    for (int i = 0; i < LIST_COUNT; i++)
        out->counts[i] = -1;
    for (const char *p = text; p < line.end;) {
        char c = *p++;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (c != '"')
            continue;
        const char *name = p;
        p = string_end(p, line.end);
        if (p < line.end && depth == 1)
            p = take_member(&line, name, (size_t)(p - name), p + 1, out);
        else if (p < line.end)
            p++;
    }
    keep_until(&line, line.end);
    return (size_t)(line.to - text);
}
