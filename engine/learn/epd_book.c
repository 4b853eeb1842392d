// Loading keeps the text and parses each line once to check it. A position is parsed again when it
// is used, so a book of a million lines needs little more memory than its file.
#include "learn/epd_book.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "learn/whole_file.h"
#include "rules/error.h"
#include "rules/pgn.h"

// The next line of `*cursor`, terminated in place with NUL. NULL after the last line.
static char *line_next(char **cursor) {
    char *line = *cursor;
    if (!*line)
        return NULL;
    char *end = line + strcspn(line, "\n");
    *cursor = *end ? end + 1 : end;
    *end = '\0';
    line[strcspn(line, "\r")] = '\0';
    return line;
}

static size_t lines_count(const char *text) {
    size_t count = 1;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

static bool lines_read(EpdBook *book, Refusal *err) {
    char *cursor = book->text, *line;
    book->lines = calloc(lines_count(book->text), sizeof *book->lines);
    if (!book->lines)
        return refused(err, "out of memory");
    for (size_t number = 1; (line = line_next(&cursor)); number++) {
        Position pos;
        Refusal reason;
        if (!line[strspn(line, " \t")] || line[0] == '#')
            continue;
        if (!epd_read(line, book->chess960, &pos, NULL, &reason))
            return refused(err, "line %zu: %s", number, reason.message);
        book->lines[book->count++] = line;
    }
    return book->count > 0 || refused(err, "the file has no position");
}

bool epd_book_load(EpdBook *book, const char *path, bool chess960, Refusal *err) {
    size_t size;
    *book = (EpdBook){.chess960 = chess960,
                      .text = whole_file_read(path, EPD_BOOK_BYTES_MAX, &size, err)};
    if (!book->text)
        return false;
    sha256_text(book->text, size, book->sha256);
    bool is_text = strlen(book->text) == size;
    if (!is_text)
        refused(err, "the file has a NUL at byte %zu", strlen(book->text));
    if (is_text && lines_read(book, err))
        return true;
    epd_book_release(book);
    return false;
}

void epd_book_release(EpdBook *book) {
    free(book->text);
    free(book->lines);
    *book = (EpdBook){0};
}

void epd_book_position(const EpdBook *book, size_t index, Position *pos) {
    Refusal err;
    bool is_good = epd_read(book->lines[index], book->chess960, pos, NULL, &err);
    assert(is_good);
    (void)is_good;
}
