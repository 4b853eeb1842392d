// The PGN writer: export format, with lines of at most 79 characters.

#include <stdio.h>
#include <string.h>

#include "rules/notation.h"
#include "rules/pgn.h"
#include "rules/text.h"

enum { COLUMNS_MAX = 79 };

// Counts all bytes, and writes those that fit.
typedef struct Output {
    char *out;
    size_t size, length;
    size_t column;
} Output;

static void put_char(Output *o, char ch) {
    if (o->size > 0 && o->length < o->size - 1)
        o->out[o->length] = ch;
    o->length++;
    o->column = ch == '\n' ? 0 : o->column + 1;
}

static void put_text(Output *o, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        put_char(o, text[i]);
}

static size_t finish(const Output *o) {
    if (o->size)
        o->out[o->length < o->size ? o->length : o->size - 1] = '\0';
    return o->length;
}

// Writes a space, or a line end, before a word of `length` columns.
static void put_gap(Output *o, size_t length) {
    if (o->column)
        put_char(o, o->column + 1 + length > COLUMNS_MAX ? '\n' : ' ');
}

static void put_word(Output *o, const char *word) {
    put_gap(o, strlen(word));
    put_text(o, word, strlen(word));
}

static bool breaks_word(char ch) {
    return (unsigned char)ch <= ' ' || ch == 127;
}

// The words of a comment are wrapped like other words. A closing brace would end the comment, so it
// is written as ')'.
static void put_comment(Output *o, const char *text) {
    bool first = true;
    while (*text) {
        while (*text && breaks_word(*text))
            text++;
        size_t length = 0;
        while (text[length] && !breaks_word(text[length]))
            length++;
        if (!length)
            break;
        put_gap(o, length + 2);
        if (first)
            put_char(o, '{');
        for (size_t i = 0; i < length; i++)
            put_char(o, text[i] == '}' ? ')' : text[i]);
        text += length;
        first = false;
    }
    if (!first)
        put_char(o, '}');
}

// Writes a move. Its number comes first if White moves, or if text stands between it and White's
// move (`numbered`).
static void put_move(Output *o, PgnNotation notation, const Position *pos, Move move,
                     bool numbered) {
    static char *(*const write[])(const Position *, Move, char *) = {
        [PGN_SAN] = move_to_san, [PGN_LAN] = move_to_lan, [PGN_UCI] = move_to_uci};
    char word[MOVE_TEXT_MAX];
    if (pos->side == WHITE || numbered) {
        snprintf(word, sizeof word, "%d%s", pos->fullmove, pos->side == WHITE ? "." : "...");
        put_word(o, word);
    }
    put_word(o, write[notation](pos, move, word));
}

size_t pgn_write_moves(const Game *game, GameResult result,
                       const char *(*comment)(int ply, void *ctx), void *ctx, char *out,
                       size_t size) {
    return pgn_write_moves_in(PGN_SAN, game, result, comment, ctx, out, size);
}

size_t pgn_write_moves_in(PgnNotation notation, const Game *game, GameResult result,
                          const char *(*comment)(int ply, void *ctx), void *ctx, char *out,
                          size_t size) {
    Output o = {.out = out, .size = size};
    Position pos = game->start;
    bool numbered = true;
    for (int i = 0; i < game->plies; i++) {
        const char *text = comment ? comment(i, ctx) : NULL;
        Undo undo;
        put_move(&o, notation, &pos, game->moves[i], numbered);
        if (text)
            put_comment(&o, text);
        numbered = text != NULL;
        position_make(&pos, game->moves[i], &undo);
    }
    put_word(&o, game_result_text(result));
    return finish(&o);
}

size_t pgn_write_tag(const char *name, const char *value, char *out, size_t size) {
    Output o = {.out = out, .size = size};
    put_char(&o, '[');
    put_text(&o, name, strlen(name));
    put_text(&o, " \"", 2);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            put_char(&o, '\\');
        put_char(&o, breaks_word(*value) ? ' ' : *value);
    }
    put_text(&o, "\"]\n", 3);
    return finish(&o);
}
