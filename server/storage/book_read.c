// See book_read.h. Turns EPD and PGN into one opening on each line.
#include <stdio.h>
#include <string.h>

#include "engine/rules/notation.h"
#include "engine/rules/pgn.h"
#include "server/storage/book_read.h"

enum { BOOK_OPENINGS_MAX = 10000000, MOVES_TEXT_MAX = 2048 };

static bool refuse(Error *err, long line, const char *why) {
    return error_set(err, 422, "bad_book", "line %ld: %s", line, why);
}

void book_text_release(BookText *book) {
    str_release(&book->lines);
}

static bool add_opening(BookText *out, const Position *start, const char *moves, long line,
                        Error *err) {
    char fen[FEN_MAX];
    if (out->openings >= BOOK_OPENINGS_MAX)
        return refuse(err, line, "a book has at most ten million openings");
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

static bool read_epd_line(const char *text, size_t size, long number, BookText *out, Error *err) {
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
    return add_opening(out, &pos, "", number, err);
}

static bool read_epd(const char *text, size_t size, BookText *out, Error *err) {
    const char *end = text + size;
    for (long number = 1; text < end; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        if (!read_epd_line(text, (size_t)(stop - text), number, out, err))
            return false;
        text = stop + 1;
    }
    return true;
}

// ---- PGN ----------------------------------------------------------------------------------------

static bool add_game(BookText *out, const PgnGame *game, int plies, long line, Error *err) {
    char moves[MOVES_TEXT_MAX], move[MOVE_TEXT_MAX];
    Position pos = game->game.start;
    size_t used = 0;
    int count = game->game.plies < plies ? game->game.plies : plies;
    moves[0] = 0;
    for (int i = 0; i < count && used + MOVE_TEXT_MAX < sizeof moves; i++) {
        Undo undo;
        used += (size_t)snprintf(moves + used, sizeof moves - used, "%s%s", i ? " " : "",
                                 move_to_uci(&pos, game->game.moves[i], move));
        position_make(&pos, game->game.moves[i], &undo);
    }
    return add_opening(out, &game->game.start, moves, line, err);
}

static bool read_pgn(const char *text, size_t size, int plies, BookText *out, Error *err) {
    PgnReader reader;
    Refusal why;
    PgnGame *game scope(free_ptr) = xmalloc(sizeof *game);
    pgn_reader_init(&reader, text, size);
    for (;;) {
        long line = reader.line;
        PgnStatus status = pgn_read(&reader, game, &why);
        if (status == PGN_END)
            return true;
        if (status == PGN_BAD)
            return refuse(err, line, why.message);
        if (!add_game(out, game, plies, line, err))
            return false;
    }
}

bool book_read(const char *text, size_t size, int plies, BookText *out, Error *err) {
    *out = (BookText){0};
    str_init(&out->lines, (size_t)BOOK_FILE_MAX * 2);
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        text += 3, size -= 3;
    size_t blank = 0;
    while (blank < size && strchr(" \t\r\n", text[blank]) && text[blank])
        blank++;
    out->is_pgn = blank < size && text[blank] == '[';
    bool good =
        out->is_pgn ? read_pgn(text, size, plies, out, err) : read_epd(text, size, out, err);
    if (good && !out->openings)
        return refuse(err, 1, "the file has no openings");
    return good;
}
