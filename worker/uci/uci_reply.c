// See uci_reply.h. The functions allocate nothing and keep no state. NUL, CR and other control
// characters count as blanks.
#include "worker/uci/uci_reply.h"

#include <string.h>
#include <strings.h>

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

// Reads the number at the beginning of a word; 0 if there is none. Larger numbers give ±`limit`.
static int64_t word_number(Word word, int64_t limit) {
    bool minus = word.size && word.text[0] == '-';
    int64_t value = 0;
    for (size_t i = minus; i < word.size && word.text[i] >= '0' && word.text[i] <= '9'; i++)
        value = value > limit ? limit : value * 10 + (word.text[i] - '0');
    value = value > limit ? limit : value;
    return minus ? -value : value;
}

static bool contains(const char *line, size_t size, const char *text) {
    return memmem(line, size, text, strlen(text)) != NULL;
}

static bool is_side_line(const char *line, size_t size) {
    static const char key[] = " multipv ";
    const char *at = memmem(line, size, key, sizeof key - 1);
    if (!at)
        return false;
    at += sizeof key - 1;
    return word_number(next_word(&at, line + size), 1000) != 1;
}

static UciKind info_kind(const char *line, size_t size) {
    if (!contains(line, size, " score ") || is_side_line(line, size))
        return UCI_OTHER_INFO;
    bool bound = contains(line, size, " lowerbound") || contains(line, size, " upperbound");
    return bound ? UCI_BOUND : UCI_SCORE;
}

UciKind uci_kind(const char *line, size_t size) {
    const char *rest = line;
    Word word = next_word(&rest, line + size);
    if (word_is(word, "info")) {
        const char *after = rest;
        bool is_text = word_is(next_word(&after, line + size), "string");
        return is_text ? UCI_OTHER_INFO : info_kind(line, size);
    }
    if (word_is(word, "bestmove"))
        return UCI_BESTMOVE;
    if (word_is(word, "readyok"))
        return UCI_READYOK;
    if (word_is(word, "uciok"))
        return UCI_UCIOK;
    return word_is(word, "option") ? UCI_OPTION : UCI_OTHER;
}

bool uci_has_pv(const char *line, size_t size) {
    return contains(line, size, " pv ") && !contains(line, size, " string ") &&
           !is_side_line(line, size);
}

// "mate n" counts moves. A side that is mated in n moves loses after 2n plies; a side that mates in
// n moves wins after 2n - 1 plies.
static int32_t mate_score(int64_t moves) {
    int64_t plies = moves > 0 ? 2 * moves - 1 : -2 * moves;
    return (int32_t)(moves > 0 ? UCI_SCORE_MATE - plies : plies - UCI_SCORE_MATE);
}

static int32_t read_score(const char **line, const char *end) {
    Word unit = next_word(line, end), value = next_word(line, end);
    if (word_is(unit, "cp") && value.size)
        return (int32_t)word_number(value, UCI_SCORE_CP_MAX);
    if (word_is(unit, "mate") && value.size)
        return mate_score(word_number(value, 10000));
    return UCI_SCORE_NONE;
}

void uci_read_info(const char *line, size_t size, UciInfo *out) {
    const char *rest = line, *end = line + size;
    *out = (UciInfo){.score_cp = UCI_SCORE_NONE, .time_ms = -1};
    for (Word word = next_word(&rest, end); word.size; word = next_word(&rest, end)) {
        if (word_is(word, "depth"))
            out->depth = (int32_t)word_number(next_word(&rest, end), INT32_MAX / 16);
        else if (word_is(word, "seldepth"))
            out->seldepth = (int32_t)word_number(next_word(&rest, end), INT32_MAX / 16);
        else if (word_is(word, "time"))
            out->time_ms = (int32_t)word_number(next_word(&rest, end), INT32_MAX / 16);
        else if (word_is(word, "nodes"))
            out->nodes = word_number(next_word(&rest, end), INT64_MAX / 16);
        else if (word_is(word, "score"))
            out->score_cp = read_score(&rest, end);
        else if (word_is(word, "string"))
            return;
    }
}

void uci_read_bestmove(const char *line, size_t size, char out[UCI_WORD_MAX]) {
    const char *rest = line;
    next_word(&rest, line + size);
    Word move = next_word(&rest, line + size);
    size_t length = move.size < UCI_WORD_MAX ? move.size : UCI_WORD_MAX - 1;
    for (size_t i = 0; i < length; i++)
        out[i] = move.text[i] > ' ' && move.text[i] < 127 ? move.text[i] : '?';
    out[length] = 0;
}

bool uci_option_is(const char *line, size_t size, const char *name) {
    const char *at = memmem(line, size, " name ", 6);
    if (!at)
        return false;
    at += 6;
    const char *end = memmem(at, (size_t)(line + size - at), " type ", 6);
    size_t length = end ? (size_t)(end - at) : (size_t)(line + size - at);
    return length == strlen(name) && strncasecmp(at, name, length) == 0;
}
