// Books in the database and in memory, and the order of their openings: see book.h. book_read.c
// reads files from outside.
#include "server/storage/book.h"
#include "server/storage/book_read.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/book/walks.h"
#include "engine/rules/position.h"
#include "server/common/file.h"
#include "server/storage/blob.h"
#include "sql/tests.h"
#include "sql/worker.h"

// ---- the order ----------------------------------------------------------------------------------

// A round function. Any fixed mixing works, but it must never change: a running test would get
// other openings. (Multipliers of the splitmix64 generator, Steele, Lea and Flood 2014.)
static uint64_t mix(uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9;
    x ^= x >> 27;
    x *= 0x94d049bb133111eb;
    return x ^ x >> 31;
}

// A balanced Feistel network is a permutation of 2·half bits for any round function (Luby and
// Rackoff 1988).
static uint64_t feistel(uint64_t seed, uint64_t x, int half) {
    uint64_t mask = (1ULL << half) - 1, left = x >> half, right = x & mask;
    for (uint64_t round = 1; round <= 6; round++) {
        uint64_t next = left ^ (mix(seed ^ mix(right + (round << 56))) & mask);
        left = right;
        right = next;
    }
    return left << half | right;
}

// A value outside the domain is permuted again until one is inside (Black and Rogaway 2002). That
// takes at most four steps on average, because the range is less than four times the domain.
uint64_t book_order(uint64_t seed, uint64_t i, uint64_t size) {
    int half = 1;
    while (half < 31 && 1ULL << (2 * half) < size)
        half++;
    uint64_t x = i;
    do
        x = feistel(seed, x, half);
    while (x >= size);
    return x;
}

// ---- installing ---------------------------------------------------------------------------------

// The text of a file of walks is the book that it stands for.
static char *text_of(const char *path, size_t *size, Error *err) {
    Refusal why;
    Walks walks scope(walks_release) = {0};
    char *text = file_read(path, BOOK_FILE_MAX, size, err);
    if (!text || strncmp(text, WALKS_MAGIC, strlen(WALKS_MAGIC)) != 0)
        return text;
    char *book = walks_read(text, *size, &walks, &why) ? walks_expand(&walks, size, &why) : NULL;
    free(text);
    if (!book)
        error_set(err, 422, "bad_book", "%s: %s", path, why.message);
    return book;
}

int64_t book_install(Db *db, const char *data, int64_t engine_id, const char *path,
                     const char *name, double now, Error *err) {
    size_t size;
    BookText book scope(book_text_release) = {0};
    SqlBookByName known;
    rules_init();
    if (sql_book_by_name(db, &known, .engine = engine_id, .name = name)) {
        error_set(err, 409, "book_exists", "the engine has a book %s already", name);
        return 0;
    }
    char *text scope(free_ptr) = text_of(path, &size, err);
    if (!text || !book_read(text, size, BOOK_PLIES_DEFAULT, &book, err)) {
        error_prefix(err, "book %s", name);
        return 0;
    }
    char sha[SHA256_HEX_MAX];
    if (!blob_put(data, book.lines.data, book.lines.size, sha, err) ||
        !blob_note(db, sha, book.lines.size, "book", now, err) ||
        !sql_book_add(db, err, .engine = engine_id, .name = name, .sha256 = sha,
                      .format = book.is_pgn ? "pgn" : "epd", .openings = (int64_t)book.openings,
                      .chess960 = book.chess960, .created = now))
        return 0;
    return db_last_id(db);
}

// ---- dealing ------------------------------------------------------------------------------------

// A book in memory: its lines, and where each line begins.
typedef struct BookMap {
    char blob[SHA256_HEX_MAX];
    const char *text;
    size_t size;
    uint32_t *starts; // count + 1 of them
    uint64_t count;
} BookMap;

enum { BOOK_MAPS_MAX = 64 };
static struct {
    BookMap maps[BOOK_MAPS_MAX];
    int count;
} cache; // loop thread only

static void map_index(BookMap *map) {
    size_t capacity = map->size / 32 + 2;
    map->starts = xmalloc(capacity * sizeof *map->starts);
    for (size_t at = 0; at < map->size;) {
        if (map->count + 2 > capacity)
            map->starts = xrealloc(map->starts, (capacity *= 2) * sizeof *map->starts);
        map->starts[map->count++] = (uint32_t)at;
        const char *newline = memchr(map->text + at, '\n', map->size - at);
        at = newline ? (size_t)(newline - map->text) + 1 : map->size;
    }
    map->starts[map->count] = (uint32_t)map->size;
}

static bool map_open(BookMap *map, const char *data, const char *blob, Error *err) {
    char *path scope(free_ptr) = blob_path(data, blob);
    int fd scope(close_fd) = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return error_errno(err, "cannot open the book %s", blob);
    if (st.st_size == 0 || st.st_size > UINT32_MAX)
        return error_set(err, 500, "bad_book", "the book %s is empty or too large", blob);
    void *text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (text == MAP_FAILED)
        return error_errno(err, "cannot map the book %s", blob);
    *map = (BookMap){.text = text, .size = (size_t)st.st_size};
    snprintf(map->blob, sizeof map->blob, "%s", blob);
    map_index(map);
    return true;
}

void book_cache_clear(void) {
    while (cache.count) {
        BookMap *map = &cache.maps[--cache.count];
        munmap((void *)(uintptr_t)map->text, map->size);
        free(map->starts);
    }
}

static const BookMap *map_of(const char *data, const char *blob, Error *err) {
    for (int i = 0; i < cache.count; i++)
        if (strcmp(cache.maps[i].blob, blob) == 0)
            return &cache.maps[i];
    if (cache.count == BOOK_MAPS_MAX)
        book_cache_clear();
    if (!map_open(&cache.maps[cache.count], data, blob, err))
        return NULL;
    return &cache.maps[cache.count++];
}

// The lines of a book are FENs and moves, written by book_read. So they need no escapes.
static void add_opening(Str *out, const BookMap *map, uint64_t line) {
    const char *start = map->text + map->starts[line];
    size_t size = map->starts[line + 1] - map->starts[line];
    if (size && start[size - 1] == '\n')
        size--;
    const char *tab = memchr(start, '\t', size);
    size_t fen = tab ? (size_t)(tab - start) : size;
    str_puts(out, "{\"fen\":\"");
    str_add(out, start, fen);
    str_puts(out, "\",\"moves\":\"");
    str_add(out, tab ? tab + 1 : "", tab ? size - fen - 1 : 0);
    str_puts(out, "\"}");
}

bool book_openings(const char *data, const char *blob, int64_t seed, int64_t first, int64_t count,
                   Str *out, Error *err) {
    const BookMap *map = map_of(data, blob, err);
    if (!map)
        return false;
    str_putc(out, '[');
    for (int64_t pair = first; pair < first + count; pair++) {
        uint64_t line = book_order((uint64_t)seed, (uint64_t)pair % map->count, map->count);
        if (pair > first)
            str_putc(out, ',');
        add_opening(out, map, line);
    }
    str_putc(out, ']');
    return true;
}
