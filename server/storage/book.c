// Books in the database and in memory: see book.h. book_read.c reads files from outside.
#include "server/storage/book.h"
#include "server/storage/book_order.h"
#include "server/storage/book_read.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/rules/position.h"
#include "server/common/file.h"
#include "server/storage/blob.h"
#include "sql/worker.h"

// ---- installing ---------------------------------------------------------------------------------

static int64_t store(Db *db, const char *data, int64_t engine_id, const char *name,
                     const BookText *book, double now, Error *err) {
    char sha[SHA256_HEX_MAX];
    if (!blob_put(data, book->lines.data, book->lines.size, sha, err) ||
        !blob_note(db, sha, book->lines.size, "book", now, err) ||
        !sql_book_add(db, err, .engine = engine_id, .name = name, .sha256 = sha,
                      .format = book->is_pgn ? "pgn" : "epd", .openings = (int64_t)book->openings,
                      .chess960 = book->chess960, .created = now))
        return 0;
    return db_last_id(db);
}

int64_t book_install(Db *db, const char *data, int64_t engine_id, const char *path,
                     const char *name, double now, Error *err) {
    size_t size;
    BookText book scope(book_text_release) = {0};
    char *text scope(free_ptr) = file_read(path, BOOK_FILE_MAX, &size, err);
    rules_init();
    if (!text || !book_read(text, size, BOOK_PLIES_DEFAULT, &book, err)) {
        error_prefix(err, "book %s", name);
        return 0;
    }
    return store(db, data, engine_id, name, &book, now, err);
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

static void map_close(BookMap *map) {
    munmap((void *)(uintptr_t)map->text, map->size);
    free(map->starts);
}

void book_cache_clear(void) {
    while (cache.count)
        map_close(&cache.maps[--cache.count]);
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
