// Books in memory, and the order of their openings: see book.h.
#include "server/storage/book.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/storage/blob.h"

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

// ---- dealing ------------------------------------------------------------------------------------

// A book in memory: its lines, and where each line begins.
struct Book {
    char blob[SHA256_HEX_MAX];
    const char *text;
    size_t size;
    uint32_t *starts; // count + 1 of them
    uint64_t count;
};

enum { BOOK_MAPS_MAX = 64 };
static struct {
    pthread_mutex_t mutex;
    Book maps[BOOK_MAPS_MAX];
    int count;
} cache = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void map_index(Book *map) {
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

static bool map_open(Book *map, const char *data, const char *blob, Error *err) {
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
    *map = (Book){.text = text, .size = (size_t)st.st_size};
    snprintf(map->blob, sizeof map->blob, "%s", blob);
    map_index(map);
    return true;
}

static void map_close(Book *map) {
    if (map->text)
        munmap((void *)(uintptr_t)map->text, map->size);
    free(map->starts);
}

static void clear(void) {
    while (cache.count)
        map_close(&cache.maps[--cache.count]);
}

void book_cache_clear(void) {
    pthread_mutex_lock(&cache.mutex);
    clear();
    pthread_mutex_unlock(&cache.mutex);
}

static const Book *map_of(const char *data, const char *blob, Error *err) {
    for (int i = 0; i < cache.count; i++)
        if (strcmp(cache.maps[i].blob, blob) == 0)
            return &cache.maps[i];
    if (cache.count == BOOK_MAPS_MAX)
        clear();
    if (!map_open(&cache.maps[cache.count], data, blob, err))
        return NULL;
    return &cache.maps[cache.count++];
}

// The lines of a book are FENs and moves, written by book_read. So they need no escapes.
static void add_opening(Str *out, const Book *map, uint64_t line) {
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

static void add_openings(Str *out, const Book *map, int64_t seed, int64_t first, int64_t count) {
    str_putc(out, '[');
    for (int64_t pair = first; map->count && pair < first + count; pair++) {
        uint64_t line = book_order((uint64_t)seed, (uint64_t)pair % map->count, map->count);
        if (pair > first)
            str_putc(out, ',');
        add_opening(out, map, line);
    }
    str_putc(out, ']');
}

bool book_openings(const char *data, const char *blob, int64_t seed, int64_t first, int64_t count,
                   Str *out, Error *err) {
    pthread_mutex_lock(&cache.mutex);
    const Book *map = map_of(data, blob, err);
    if (map)
        add_openings(out, map, seed, first, count);
    pthread_mutex_unlock(&cache.mutex);
    return map != NULL;
}

Book *book_new(const char *text, size_t size) {
    Book *book = xcalloc(1, sizeof *book);
    book->text = text;
    book->size = size <= UINT32_MAX ? size : 0;
    map_index(book);
    return book;
}

void book_free(Book **book) {
    if (*book)
        free((*book)->starts);
    free(*book);
}

uint64_t book_size(const Book *book) {
    return book->count;
}

void book_deal(const Book *book, int64_t seed, int64_t first, int64_t count, Str *out) {
    add_openings(out, book, seed, first, count);
}

bool book_lines(const char *data, const char *blob, const int64_t *lines, int count, Str *out,
                Error *err) {
    Book map scope(map_close) = {0};
    if (!map_open(&map, data, blob, err))
        return false;
    str_putc(out, '[');
    for (int i = 0; i < count; i++) {
        if (!map.starts || lines[i] < 0 || (uint64_t)lines[i] >= map.count)
            return error_set(err, 500, "internal", "the book has no line %lld",
                             (long long)lines[i]);
        if (i)
            str_putc(out, ',');
        add_opening(out, &map, (uint64_t)lines[i]);
    }
    str_putc(out, ']');
    return true;
}
