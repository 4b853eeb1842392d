// See book_read.h. Turns EPD and PGN into one opening on each line.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/book/key_set.h"
#include "engine/rules/notation.h"
#include "engine/rules/pgn.h"
#include "server/common/log.h"
#include "server/storage/book_read.h"

enum { MOVES_TEXT_MAX = 2048 };

// What is read, and the positions that its openings reached so far.
typedef struct Reading {
    BookText *out; // borrowed
    const char *variant;
    int plies;
    KeySet known;
} Reading;

static bool refuse(Error *err, long line, const char *why) {
    return error_set(err, 422, "bad_book", "line %ld: %s", line, why);
}

void book_text_release(BookText *book) {
    str_release(&book->lines);
}

static const char *variant_of(const Position *pos) {
    return pos->chess960 ? "chess960" : "standard";
}

static bool has_move(const Position *pos) {
    MoveList list;
    movegen_legal(pos, &list);
    return list.size > 0;
}

static bool suits(const Reading *r, const Position *start, const Position *end, long line,
                  Error *err) {
    if (r->out->openings + r->out->duplicates >= BOOK_OPENINGS_MAX)
        return refuse(err, line,
                      "a book has at most a million openings, those that are left out included");
    if (*r->variant && strcmp(r->variant, variant_of(start)) != 0)
        return error_set(err, 422, "bad_book", "line %ld: the opening is of the variant %s", line,
                         variant_of(start));
    return has_move(end) || refuse(err, line, "the game is over there: no move is legal");
}

// `end` is the position after the moves.
static bool add_opening(Reading *r, const Position *start, const char *moves, const Position *end,
                        long line, Error *err) {
    char fen[FEN_MAX];
    BookText *out = r->out;
    if (!suits(r, start, end, line, err))
        return false;
    if (!key_set_add(&r->known, end->key)) {
        out->duplicates++;
        return true;
    }
    str_puts(&out->lines, position_to_fen(start, fen));
    str_putc(&out->lines, '\t');
    str_puts(&out->lines, moves);
    str_putc(&out->lines, '\n');
    if (out->lines.overflow)
        return refuse(err, line, "the book is too large");
    out->openings++;
    out->chess960 |= start->chess960;
    return true;
}

// ---- EPD ----------------------------------------------------------------------------------------

static bool read_epd_line(const char *text, size_t size, long number, Reading *r, Error *err) {
    char line[BOOK_LINE_MAX];
    Position pos;
    Refusal why;
    if (size >= sizeof line)
        return refuse(err, number, "the line is over 4095 bytes long");
    if (memchr(text, 0, size))
        return refuse(err, number, "this is not text");
    memcpy(line, text, size);
    while (size && strchr(" \t\r", line[size - 1]))
        size--;
    line[size] = 0;
    if (!size || *line == '#')
        return true;
    if (!epd_read(line, false, &pos, NULL, &why))
        return refuse(err, number, why.message);
    return add_opening(r, &pos, "", &pos, number, err);
}

static bool read_epd(const char *text, size_t size, Reading *r, Error *err) {
    const char *end = text + size;
    for (long number = 1; text < end; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        if (!read_epd_line(text, (size_t)(stop - text), number, r, err))
            return false;
        text = stop + 1;
    }
    return true;
}

// ---- PGN ----------------------------------------------------------------------------------------

// Whether the game names no variant, or one that is played here.
static bool is_chess(const PgnGame *game) {
    static const char *const names[] = {"standard", "chess", "normal", "from position"};
    const char *variant = pgn_tag(game, "Variant");
    bool found = !variant || !*variant || game->game.start.chess960;
    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++)
        found = strcasecmp(variant, names[i]) == 0;
    return found;
}

static bool add_game(Reading *r, const PgnGame *game, long line, Error *err) {
    char moves[MOVES_TEXT_MAX], move[MOVE_TEXT_MAX];
    Position pos = game->game.start;
    size_t used = 0;
    int count = game->game.plies < r->plies ? game->game.plies : r->plies;
    moves[0] = 0;
    for (int i = 0; i < count && used + MOVE_TEXT_MAX < sizeof moves; i++) {
        Undo undo;
        used += (size_t)snprintf(moves + used, sizeof moves - used, "%s%s", i ? " " : "",
                                 move_to_uci(&pos, game->game.moves[i], move));
        position_make(&pos, game->game.moves[i], &undo);
    }
    return add_opening(r, &game->game.start, moves, &pos, line, err);
}

static bool read_pgn(const char *text, size_t size, Reading *r, Error *err) {
    PgnReader reader;
    Refusal why;
    PgnGame *game scope(free_ptr) = xmalloc(sizeof *game);
    pgn_reader_init(&reader, text, size);
    for (;;) {
        long line = reader.line;
        PgnStatus status = pgn_read(&reader, game, &why);
        if (status == PGN_END)
            return true;
        if (status == PGN_BAD) // says its line
            return error_set(err, 422, "bad_book", "%s", why.message);
        if (!is_chess(game))
            return refuse(err, line, "the game is of a variant that is not played here");
        if (!add_game(r, game, line, err))
            return false;
    }
}

static bool read_all(const char *text, size_t size, Reading *r, Error *err) {
    size_t blank = 0;
    while (blank < size && strchr(" \t\r\n", text[blank]) && text[blank])
        blank++;
    r->out->is_pgn = blank < size && text[blank] == '[';
    bool good = r->out->is_pgn ? read_pgn(text, size, r, err) : read_epd(text, size, r, err);
    return good && (r->out->openings || refuse(err, 1, "the file has no openings"));
}

bool book_read(const char *text, size_t size, int plies, const char *variant, BookText *out,
               Error *err) {
    *out = (BookText){0};
    str_init(&out->lines, (size_t)BOOK_FILE_MAX * 2);
    Reading reading = {.out = out, .variant = variant, .plies = plies};
    size_t most = size / 2 + 1; // the shortest game is "*" and a blank
    if (!key_set_init(&reading.known, most < BOOK_OPENINGS_MAX ? most : BOOK_OPENINGS_MAX))
        fatal("out of memory");
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        text += 3, size -= 3;
    bool good = read_all(text, size, &reading, err);
    key_set_release(&reading.known);
    return good;
}
