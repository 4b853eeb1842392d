// The PGN reader: import format, one game after another, from bytes in memory. The size of
// everything in a game is bounded. Text that cannot be read is reported with its line number and
// skipped.

#include <string.h>
#include <strings.h>

#include "rules/notation.h"
#include "rules/pgn.h"
#include "rules/text.h"

// A file with deeper variations is treated as broken: no person writes such variations.
enum { VARIATION_DEPTH_MAX = 64, PGN_TOKEN_MAX = 32 };

void pgn_reader_init(PgnReader *reader, const char *text, size_t size) {
    static const char byte_order_mark[] = {'\xef', '\xbb', '\xbf'};
    *reader = (PgnReader){.text = text, .size = size, .line = 1};
    if (size >= 3 && memcmp(text, byte_order_mark, 3) == 0)
        reader->offset = 3;
}

// The next byte, or NUL at the end of the text. A NUL in the text also ends it.
static char peek(const PgnReader *r) {
    return r->offset < r->size ? r->text[r->offset] : '\0';
}

static void advance(PgnReader *r) {
    r->line += r->text[r->offset] == '\n';
    r->offset++;
}

static bool at_line_start(const PgnReader *r) {
    return r->offset == 0 || r->text[r->offset - 1] == '\n';
}

// Moves to the next byte of `stops`, or to the end.
static void skip_to(PgnReader *r, const char *stops) {
    while (peek(r) && !strchr(stops, peek(r)))
        advance(r);
}

static void skip_line(PgnReader *r) {
    skip_to(r, "\n");
    if (peek(r))
        advance(r);
}

// Skips space and escape lines.
static void skip_space(PgnReader *r) {
    for (;;) {
        if (peek(r) == '%' && at_line_start(r))
            skip_line(r);
        else if (char_is_space(peek(r)))
            advance(r);
        else
            return;
    }
}

// ---- tags ---------------------------------------------------------------------------------------

static bool read_tag_name(PgnReader *r, PgnTag *tag, Refusal *err) {
    size_t length = 0;
    for (; peek(r) && peek(r) != '"' && peek(r) != ']' && !char_is_space(peek(r)); advance(r)) {
        if (length + 1 == sizeof tag->name)
            return refused(err, "line %d: tag name over %zu bytes", r->line, length);
        tag->name[length++] = peek(r);
    }
    tag->name[length] = '\0';
    return length || refused(err, "line %d: tag without a name", r->line);
}

static bool read_tag_value(PgnReader *r, PgnTag *tag, Refusal *err) {
    size_t length = 0;
    if (peek(r) != '"')
        return refused(err, "line %d: tag %s has no quoted value", r->line, tag->name);
    for (advance(r); peek(r) != '"'; advance(r)) {
        if (peek(r) == '\\' && r->offset + 1 < r->size)
            advance(r);
        if (peek(r) == '\0' || peek(r) == '\n')
            return refused(err, "line %d: the value of tag %s has no end", r->line, tag->name);
        if (length + 1 == sizeof tag->value)
            return refused(err, "line %d: the value of tag %s is over %zu bytes", r->line,
                           tag->name, length);
        tag->value[length++] = peek(r);
    }
    advance(r);
    tag->value[length] = '\0';
    return true;
}

static bool read_tag(PgnReader *r, PgnGame *out, Refusal *err) {
    if (out->tag_count == PGN_TAGS_MAX)
        return refused(err, "line %d: more than %d tags", r->line, PGN_TAGS_MAX);
    PgnTag *tag = &out->tags[out->tag_count];
    advance(r); // [
    skip_space(r);
    if (!read_tag_name(r, tag, err))
        return false;
    skip_space(r);
    if (!read_tag_value(r, tag, err))
        return false;
    skip_space(r);
    if (peek(r) != ']')
        return refused(err, "line %d: tag %s is not closed with ]", r->line, tag->name);
    advance(r);
    out->tag_count++;
    return true;
}

const char *pgn_tag(const PgnGame *game, const char *name) {
    for (int i = 0; i < game->tag_count; i++)
        if (strcmp(game->tags[i].name, name) == 0)
            return game->tags[i].value;
    return NULL;
}

static bool variant_is_chess960(const PgnGame *game) {
    static const char *const names[] = {"chess960", "chess 960", "fischerandom", "fischerrandom"};
    const char *variant = pgn_tag(game, "Variant");
    for (size_t i = 0; variant && i < sizeof names / sizeof *names; i++)
        if (strcasecmp(variant, names[i]) == 0)
            return true;
    return false;
}

// Sets up the start position: the FEN tag, unless the tag SetUp is 0.
static bool set_up(PgnGame *out, int line, Refusal *err) {
    const char *fen = pgn_tag(out, "FEN"), *setup = pgn_tag(out, "SetUp");
    if (!fen || (setup && strcmp(setup, "0") == 0))
        fen = POSITION_START_FEN;
    Position start;
    Refusal why;
    if (!position_from_fen(&start, fen, variant_is_chess960(out), &why))
        return refused(err, "tags before line %d: FEN: %s", line, why.message);
    game_init(&out->game, &start);
    return true;
}

// ---- movetext -----------------------------------------------------------------------------------

static bool skip_comment(PgnReader *r, Refusal *err) {
    int line = r->line;
    skip_to(r, "}");
    if (!peek(r))
        return refused(err, "line %d: comment without its end", line);
    advance(r);
    return true;
}

static bool skip_variation(PgnReader *r, Refusal *err) {
    int line = r->line, depth = 0;
    do {
        char ch = peek(r);
        if (!ch)
            return refused(err, "line %d: variation without its end", line);
        if (ch == '{' && !skip_comment(r, err))
            return false;
        if (ch == '{')
            continue;
        if (ch == ';')
            skip_to(r, "\n");
        else
            advance(r);
        depth += (ch == '(') - (ch == ')');
        if (depth > VARIATION_DEPTH_MAX)
            return refused(err, "line %d: variations nested deeper than %d", r->line,
                           VARIATION_DEPTH_MAX);
    } while (depth > 0);
    return true;
}

// Skips comments, variations, NAGs and separate marks before the next token. False if one of them
// has no end.
static bool skip_annotations(PgnReader *r, Refusal *err) {
    for (;;) {
        skip_space(r);
        char ch = peek(r);
        if (ch == '{') {
            if (!skip_comment(r, err))
                return false;
        } else if (ch == '(') {
            if (!skip_variation(r, err))
                return false;
        } else if (ch == ';') {
            skip_line(r);
        } else if (ch == '<') {
            skip_to(r, ">");
        } else if (ch && strchr("$.!?>", ch)) {
            advance(r);
            while (ch == '$' && peek(r) >= '0' && peek(r) <= '9')
                advance(r);
        } else {
            return true;
        }
    }
}

// Reads a run of bytes that may be a move, a number or a result. A run that is too long is cut, and
// then matches none of these.
static void read_token(PgnReader *r, char out[PGN_TOKEN_MAX]) {
    size_t length = 0;
    for (; peek(r) && !char_is_space(peek(r)) && !strchr("{};()[]<>$.", peek(r)); advance(r)) {
        if (length + 1 < PGN_TOKEN_MAX)
            out[length++] = peek(r);
    }
    out[length] = '\0';
}

static bool read_result(const char *token, GameResult *result) {
    for (GameResult r = RESULT_NONE; r <= RESULT_DRAW; r++)
        if (strcmp(token, game_result_text(r)) == 0) {
            *result = r;
            return true;
        }
    return false;
}

static bool is_move_number(const char *token) {
    size_t digits = strspn(token, "0123456789");
    return digits && !token[digits];
}

static bool play_token(PgnReader *r, const char *token, Game *game, Refusal *err) {
    if (game->plies == GAME_PLIES_MAX)
        return refused(err, "line %d: more than %d plies", r->line, GAME_PLIES_MAX);
    Move move = move_from_san(&game->now, token);
    if (move == MOVE_NONE)
        return refused(err, "line %d: '%s' is no legal move at ply %d", r->line, token,
                       game->plies + 1);
    game_play(game, move);
    return true;
}

// Plays the moves up to the result. The result may be missing if the tags of the next game or the
// end of the text follow.
static bool read_movetext(PgnReader *r, PgnGame *out, Refusal *err) {
    out->result = RESULT_NONE;
    for (;;) {
        char token[PGN_TOKEN_MAX];
        if (!skip_annotations(r, err))
            return false;
        if (!peek(r) || peek(r) == '[')
            return true;
        read_token(r, token);
        if (!*token)
            return refused(err, "line %d: unexpected '%c'", r->line, char_shown(peek(r)));
        if (read_result(token, &out->result))
            return true;
        bool en_passant_mark = strcmp(token, "e") == 0 || strcmp(token, "p") == 0; // of "e.p."
        if (!is_move_number(token) && !en_passant_mark && !play_token(r, token, &out->game, err))
            return false;
    }
}

// ---- games --------------------------------------------------------------------------------------

// True if a line of tags begins here. A line that begins with "[%" may be part of an engine's
// comment.
static bool at_tag_line(const PgnReader *r) {
    if (!at_line_start(r) || peek(r) != '[' || r->offset + 1 >= r->size)
        return false;
    char lower = (char)(r->text[r->offset + 1] | 0x20);
    return lower >= 'a' && lower <= 'z';
}

// Moves to the first tag of the next game.
static void skip_game(PgnReader *r, bool in_tags) {
    skip_line(r);
    while (in_tags && (at_tag_line(r) || char_is_space(peek(r))))
        skip_line(r);
    while (peek(r) && !at_tag_line(r))
        skip_line(r);
}

PgnStatus pgn_read(PgnReader *reader, PgnGame *out, Refusal *err) {
    out->tag_count = 0;
    skip_space(reader);
    if (!peek(reader))
        return PGN_END;
    for (; peek(reader) == '['; skip_space(reader))
        if (!read_tag(reader, out, err)) {
            skip_game(reader, true);
            return PGN_BAD;
        }
    if (!set_up(out, reader->line, err) || !read_movetext(reader, out, err)) {
        skip_game(reader, false);
        return PGN_BAD;
    }
    return PGN_GAME;
}
