// Reads EPD: a position of four or six fields, then operations.

#include <stdlib.h>
#include <string.h>

#include "rules/pgn.h"
#include "rules/text.h"

static const char *skip_spaces(const char *at) {
    while (char_is_space(*at))
        at++;
    return at;
}

static const char *skip_field(const char *at) {
    while (*at && !char_is_space(*at) && *at != ';')
        at++;
    return at;
}

static bool is_number(const char *at) {
    const char *end = skip_field(at);
    return end != at && strspn(at, "0123456789") == (size_t)(end - at);
}

// Moves behind the position: four fields, and the two counters if both are there.
static const char *position_end(const char *line) {
    const char *at = line;
    for (int i = 0; i < 4; i++)
        at = skip_field(skip_spaces(at));
    for (int i = 0; i < 2 && is_number(skip_spaces(at)); i++)
        at = skip_field(skip_spaces(at));
    return at;
}

// The value of a counter that is given as an operation: -1 if it is absent, more than `limit` if it
// is not a valid number.
static int read_counter(const char *ops, const char *name, int limit) {
    char text[8];
    if (!epd_operation(ops, name, text, sizeof text))
        return -1;
    if (!is_number(text) || text[strspn(text, "0123456789")])
        return limit + 1;
    long value = strtol(text, NULL, 10);
    return value > limit ? limit + 1 : (int)value;
}

bool epd_read(const char *line, bool chess960, Position *pos, const char **ops, Refusal *err) {
    char fen[FEN_MAX];
    const char *end = position_end(line);
    size_t length = (size_t)(end - line);
    if (length >= sizeof fen)
        return refused(err, "the position is longer than %d bytes", FEN_MAX - 1);
    memcpy(fen, line, length);
    fen[length] = '\0';
    if (!position_from_fen(pos, fen, chess960, err))
        return false;
    while (char_is_space(*end) || *end == ';')
        end++;
    int rule50 = read_counter(end, "hmvc", UINT8_MAX), fullmove = read_counter(end, "fmvn", 9999);
    if (rule50 > UINT8_MAX || fullmove > 9999)
        return refused(err, "operation %s is not a number up to %d",
                       rule50 > UINT8_MAX ? "hmvc" : "fmvn", rule50 > UINT8_MAX ? UINT8_MAX : 9999);
    if (rule50 >= 0)
        pos->rule50 = (uint8_t)rule50;
    if (fullmove > 0)
        pos->fullmove = (uint16_t)fullmove;
    if (ops)
        *ops = end;
    return true;
}

// Moves to the semicolon that ends an operation, or to the end. Semicolons inside quotes do not
// count.
static const char *operation_end(const char *at) {
    for (bool quoted = false; *at && (quoted || *at != ';'); at++)
        quoted ^= *at == '"';
    return at;
}

static bool copy_operand(const char *from, const char *end, char *out, size_t size) {
    size_t length = 0;
    while (end > from && char_is_space(end[-1]))
        end--;
    for (; from < end; from++) {
        if (*from == '"')
            continue;
        if (length + 1 >= size)
            return false;
        out[length++] = *from;
    }
    if (size)
        out[length] = '\0';
    return size > 0;
}

bool epd_operation(const char *ops, const char *name, char *out, size_t size) {
    size_t name_length = strlen(name);
    while (*(ops = skip_spaces(ops))) {
        const char *operand = skip_field(ops), *end = operation_end(ops);
        if ((size_t)(operand - ops) == name_length && memcmp(ops, name, name_length) == 0)
            return copy_operand(skip_spaces(operand), end, out, size);
        ops = *end ? end + 1 : end;
    }
    return false;
}
