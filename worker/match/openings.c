// See openings.h. A book may hold millions of lines, while a match needs a few hundred. So the
// whole file is indexed, but only the openings that will be played are parsed.
#include "worker/match/openings.h"

#include <stdlib.h>
#include <string.h>

#include "engine/rules/notation.h"
#include "engine/rules/pgn.h"
#include "engine/rules/polyglot.h"
#include "server/common/str.h"
#include "worker/match/book_file.h"

typedef struct Entry {
    size_t offset;
    long line; // in the file, from 1
} Entry;

typedef struct Book {
    char *text;
    size_t size;
    Entry *entries;
    size_t count, capacity;
    PolyglotBook polyglot; // instead of entries
} Book;

static void book_release(Book *book) {
    free(book->text);
    free(book->entries);
}

static void book_add(Book *book, size_t offset, long line) {
    if (book->count == book->capacity) {
        book->capacity = book->capacity ? 2 * book->capacity : 1024;
        book->entries = xrealloc(book->entries, book->capacity * sizeof *book->entries);
    }
    book->entries[book->count++] = (Entry){offset, line};
}

// ---- EPD ----------------------------------------------------------------------------------------

// Ends every line with NUL and indexes the lines that are not empty.
static void index_epd(Book *book) {
    long line = 1;
    for (size_t at = 0; at < book->size; line++) {
        char *end = memchr(book->text + at, '\n', book->size - at);
        size_t next = end ? (size_t)(end - book->text) : book->size;
        book->text[next] = 0;
        size_t blank = strspn(book->text + at, " \t\r");
        if (book->text[at + blank] && book->text[at + blank] != '#')
            book_add(book, at, line);
        at = next + 1;
    }
}

static bool take_epd(const Book *book, const Entry *entry, const BookSpec *spec, Opening *out,
                     Error *err) {
    Position pos;
    Refusal problem;
    char fen[FEN_MAX];
    if (!epd_read(book->text + entry->offset, spec->chess960, &pos, NULL, &problem))
        return error_set(err, 0, "bad_book", "%s, line %ld: %s", spec->file, entry->line,
                         problem.message);
    *out = (Opening){.fen = xstrdup(position_to_fen(&pos, fen))};
    return true;
}

// ---- PGN ----------------------------------------------------------------------------------------

// A game begins at its first tag: a line that begins with '[' after a line that does not.
static void index_pgn(Book *book) {
    bool in_tags = false;
    long line = 1;
    for (size_t at = 0; at < book->size; line++) {
        char *end = memchr(book->text + at, '\n', book->size - at);
        char first = book->text[at];
        if (first == '[' && !in_tags)
            book_add(book, at, line);
        if (first != '\n' && first != '\r')
            in_tags = first == '[';
        at = end ? (size_t)(end - book->text) + 1 : book->size;
    }
}

static char *moves_text(const Game *game, int plies) {
    Str text;
    Position pos = game->start;
    str_init(&text, GAME_PLIES_MAX * 8);
    for (int i = 0; i < game->plies && (plies == 0 || i < plies); i++) {
        char move[MOVE_TEXT_MAX];
        Undo undo;
        str_printf(&text, "%s%s", i ? " " : "", move_to_uci(&pos, game->moves[i], move));
        position_make(&pos, game->moves[i], &undo);
    }
    return str_steal(&text);
}

static bool take_pgn(const Book *book, const Entry *entry, const BookSpec *spec, Opening *out,
                     Error *err) {
    scope(free_ptr) PgnGame *game = xmalloc(sizeof *game);
    PgnReader reader;
    Refusal problem = {"no game here"};
    char fen[FEN_MAX];
    pgn_reader_init(&reader, book->text + entry->offset, book->size - entry->offset);
    if (pgn_read(&reader, game, &problem) != PGN_GAME)
        return error_set(err, 0, "bad_book", "%s, game at line %ld: %s", spec->file, entry->line,
                         problem.message);
    *out = (Opening){.fen = xstrdup(position_to_fen(&game->game.start, fen)),
                     .moves = moves_text(&game->game, spec->plies)};
    return true;
}

// ---- random numbers -----------------------------------------------------------------------------

// SplitMix64, a published generator: the order is the same on every machine.
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// ---- Polyglot -----------------------------------------------------------------------------------

// Chooses a move by weight. If all weights are 0, all moves are equally likely.
static Move draw_move(const PolyglotMove *moves, int count, uint64_t *random) {
    uint64_t total = 0;
    for (int i = 0; i < count; i++)
        total += moves[i].weight;
    uint64_t at = next_random(random) % (total ? total : (uint64_t)count);
    for (int i = 0; i < count; i++) {
        uint64_t weight = total ? moves[i].weight : 1;
        if (at < weight)
            return moves[i].move;
        at -= weight;
    }
    return moves[0].move;
}

// Follows random moves of the book to its end. The game must not be over there.
static void walk(const PolyglotBook *book, Game *game, int plies, uint64_t *random) {
    PolyglotMove moves[MOVES_MAX];
    int most = plies && plies < BOOK_PLIES_MAX ? plies : BOOK_PLIES_MAX;
    while (game->plies < most) {
        int count = polyglot_moves(book, &game->now, moves);
        if (!count)
            return;
        Position before = game->now;
        game_play(game, draw_move(moves, count, random));
        if (game_end(game) != END_NONE) {
            game->now = before;
            game->plies--;
            return;
        }
    }
}

static bool take_polyglot(const Book *book, long number, const BookSpec *spec, Opening *out,
                          Error *err) {
    Refusal problem;
    Position start;
    scope(free_ptr) Game *game = xmalloc(sizeof *game);
    uint64_t random = spec->seed;
    random = next_random(&random) + (uint64_t)number;
    position_from_fen(&start, POSITION_START_FEN, false, &problem);
    game_init(game, &start);
    walk(&book->polyglot, game, spec->plies, &random);
    if (!game->plies)
        return error_set(err, 0, "bad_book", "%s has no move for the start position", spec->file);
    *out = (Opening){.moves = moves_text(game, 0)};
    return true;
}

static bool open_polyglot(Book *book, const BookSpec *spec, Error *err) {
    Refusal problem;
    return polyglot_open(&book->polyglot, book->text, book->size, &problem) ||
           error_set(err, 0, "bad_book", "%s is not a Polyglot book: %s", spec->file,
                     problem.message);
}

// ---- the book ----------------------------------------------------------------------------------

BookFormat book_format_of(const char *file) {
    size_t size = strlen(file);
    if (size > 3 && strcmp(file + size - 3, ".gz") == 0)
        size -= 3;
    if (size > 4 && memcmp(file + size - 4, ".pgn", 4) == 0)
        return BOOK_PGN;
    return size > 4 && memcmp(file + size - 4, ".bin", 4) == 0 ? BOOK_POLYGLOT : BOOK_EPD;
}

static void shuffle(Book *book, uint64_t seed) {
    for (size_t i = book->count; i > 1; i--) {
        size_t k = next_random(&seed) % i;
        Entry entry = book->entries[k];
        book->entries[k] = book->entries[i - 1];
        book->entries[i - 1] = entry;
    }
}

static bool book_open(Book *book, const BookSpec *spec, Error *err) {
    book->text = book_file_read(spec->file, BOOK_BYTES_MAX, &book->size, err);
    if (!book->text)
        return false;
    if (spec->format == BOOK_POLYGLOT)
        return open_polyglot(book, spec, err);
    if (spec->format == BOOK_PGN)
        index_pgn(book);
    else
        index_epd(book);
    if (book->count == 0)
        return error_set(err, 0, "bad_book", "%s holds no opening", spec->file);
    if (spec->random)
        shuffle(book, spec->seed);
    return true;
}

static bool take(const Book *book, const BookSpec *spec, int i, Opening *out, Error *err) {
    size_t number = (size_t)i + (spec->start > 0 ? (size_t)spec->start - 1 : 0);
    if (spec->format == BOOK_POLYGLOT)
        return take_polyglot(book, (long)number, spec, out, err);
    const Entry *entry = &book->entries[number % book->count];
    return spec->format == BOOK_PGN ? take_pgn(book, entry, spec, out, err)
                                    : take_epd(book, entry, spec, out, err);
}

bool openings_load(Openings *openings, const BookSpec *spec, int rounds, Error *err) {
    *openings = (Openings){.items = xcalloc(1, sizeof *openings->items), .count = 1};
    if (!spec->file)
        return true;
    scope(book_release) Book book = {0};
    if (!book_open(&book, spec, err))
        return false;
    size_t most = spec->format == BOOK_POLYGLOT ? BOOK_LINES_MAX : book.count;
    int count = most < (size_t)rounds ? (int)most : rounds;
    openings->items = xrealloc(openings->items, (size_t)count * sizeof *openings->items);
    memset(openings->items, 0, (size_t)count * sizeof *openings->items);
    openings->count = count;
    for (int i = 0; i < count; i++)
        if (!take(&book, spec, i, &openings->items[i], err))
            return false;
    return true;
}

void openings_release(Openings *openings) {
    for (int i = 0; i < openings->count; i++) {
        free((char *)openings->items[i].fen);
        free((char *)openings->items[i].moves);
    }
    free(openings->items);
    *openings = (Openings){0};
}
