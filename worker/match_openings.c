// See match_openings.h. A book may hold millions of lines and a match need a few hundred: the whole
// file is indexed, and only what will be played is parsed.
#include "match_openings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/rules/notation.h"
#include "../engine/rules/pgn.h"
#include "../server/common/file.h"
#include "../server/common/str.h"

typedef struct Entry {
    size_t offset;
    long line; // in the file, from 1
} Entry;

typedef struct Book {
    char *text;
    size_t size;
    Entry *entries;
    size_t count, capacity;
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

// Ends every line with NUL and remembers those that hold something.
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
    RulesError problem;
    char fen[FEN_MAX];
    if (!epd_read(book->text + entry->offset, spec->chess960, &pos, NULL, &problem))
        return error_set(err, 0, "bad_book", "%s, line %ld: %s", spec->file, entry->line,
                         problem.message);
    *out = (Opening){.fen = xstrdup(position_to_fen(&pos, fen))};
    return true;
}

// ---- PGN ----------------------------------------------------------------------------------------

// Games are found by their first tag: a line that begins with '[' after one that does not.
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

static char *moves_text(const Game *game, long plies) {
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
    RulesError problem = {"no game here"};
    char fen[FEN_MAX];
    pgn_reader_init(&reader, book->text + entry->offset, book->size - entry->offset);
    if (pgn_read(&reader, game, &problem) != PGN_GAME)
        return error_set(err, 0, "bad_book", "%s, game at line %ld: %s", spec->file, entry->line,
                         problem.message);
    *out = (Opening){.fen = xstrdup(position_to_fen(&game->game.start, fen)),
                     .moves = moves_text(&game->game, spec->plies)};
    return true;
}

// ---- both ---------------------------------------------------------------------------------------

// SplitMix64: a published generator, the same order everywhere.
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
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
    book->text = file_read(spec->file, BOOK_BYTES_MAX, &book->size, err);
    if (!book->text)
        return false;
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

bool openings_load(Openings *openings, const BookSpec *spec, int count, Error *err) {
    *openings = (Openings){0};
    openings->items = xcalloc((size_t)count, sizeof *openings->items);
    openings->count = count;
    if (!spec->file)
        return true;
    scope(book_release) Book book = {0};
    if (!book_open(&book, spec, err))
        return false;
    assert(book.count > 0);
    size_t first = spec->start > 0 ? (size_t)spec->start - 1 : 0;
    for (int i = 0; i < count; i++) {
        const Entry *entry = &book.entries[(first + (size_t)i) % book.count];
        bool fine = spec->format == BOOK_PGN
                        ? take_pgn(&book, entry, spec, &openings->items[i], err)
                        : take_epd(&book, entry, spec, &openings->items[i], err);
        if (!fine)
            return false;
    }
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
