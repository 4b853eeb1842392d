// See walks.h.
#include "book/walks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rice.h"
#include "book/walk.h"

enum { K_MAX = 24 };

// ---- the recipe ---------------------------------------------------------------------------------

static int line_print(const WalksRecipe *recipe, int k, char out[WALKS_LINE_MAX]) {
    return snprintf(out, WALKS_LINE_MAX,
                    WALKS_MAGIC "count=%u walks=%u nodes=%u low=%u high=%u rice=%d net=%s "
                                "book=%s\n",
                    recipe->count, recipe->walks, recipe->nodes, recipe->low, recipe->high, k,
                    recipe->net, recipe->book);
}

// Only a line that line_print() would write again is one. The size of the line, or 0.
static size_t line_read(const char *bytes, size_t size, WalksRecipe *recipe, int *k) {
    char line[WALKS_LINE_MAX], again[WALKS_LINE_MAX];
    const char *newline = memchr(bytes, '\n', size < sizeof line - 1 ? size : sizeof line - 1);
    size_t length = newline ? (size_t)(newline - bytes) + 1 : 0;
    memcpy(line, bytes, length);
    line[length] = '\0';
    if (sscanf(line,
               WALKS_MAGIC "count=%9u walks=%10u nodes=%9u low=%5u high=%5u rice=%2d net=%64s "
                           "book=%64s",
               &recipe->count, &recipe->walks, &recipe->nodes, &recipe->low, &recipe->high, k,
               recipe->net, recipe->book) != 8)
        return 0;
    line_print(recipe, *k, again);
    return strcmp(line, again) == 0 ? length : 0;
}

// ---- the numbers --------------------------------------------------------------------------------

static uint32_t gap_of(const Walks *walks, uint32_t i) {
    return i ? walks->numbers[i] - walks->numbers[i - 1] - 1 : walks->numbers[0];
}

static uint64_t bits_of(const Walks *walks, int k) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < walks->recipe.count; i++)
        bits += (gap_of(walks, i) >> k) + 1 + (unsigned)k;
    return bits;
}

static int best_k(const Walks *walks) {
    int best = 0;
    for (int k = 1; k <= K_MAX; k++)
        if (bits_of(walks, k) < bits_of(walks, best))
            best = k;
    return best;
}

static void gap_put(BitWriter *writer, uint32_t gap, int k) {
    for (uint32_t ones = gap >> k; ones > 0; ones--)
        bits_put(writer, 1, 1);
    bits_put(writer, 0, 1);
    bits_put(writer, gap & ((1u << k) - 1), k);
}

static bool gap_take(BitReader *reader, uint32_t most, int k, uint32_t *gap) {
    uint64_t ones = 0;
    while (bits_take(reader, 1))
        if (++ones << k > most)
            return false;
    *gap = (uint32_t)(ones << k) | bits_take(reader, k);
    return !reader->is_over && *gap <= most;
}

static bool numbers_read(BitReader *reader, int k, Walks *out, Refusal *err) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < out->recipe.count; i++) {
        uint32_t gap;
        if (next >= out->recipe.walks || !gap_take(reader, out->recipe.walks - next - 1, k, &gap))
            return refused(err, "number %u of %u is missing or too large", i + 1,
                           out->recipe.count);
        out->numbers[i] = next + gap;
        next = out->numbers[i] + 1;
    }
    bool is_end = reader->at == reader->end && reader->count < 8 && reader->pending == 0;
    return is_end || refused(err, "something follows the last number");
}

// ---- files --------------------------------------------------------------------------------------

bool walks_read(const void *bytes, size_t size, Walks *out, Refusal *err) {
    int k;
    *out = (Walks){0};
    WalksRecipe *recipe = &out->recipe;
    size_t line = line_read(bytes, size, recipe, &k);
    if (!line)
        return refused(err, "the first line is not that of a file of walks");
    if (size > WALKS_FILE_MAX || recipe->count == 0 || recipe->count > WALKS_COUNT_MAX || k < 0 ||
        k > K_MAX)
        return refused(err, "the file, its count or its code is out of range");
    if (recipe->count > 8 * (size - line))
        return refused(err, "the file is too short for %u numbers", recipe->count);
    out->numbers = calloc(recipe->count, sizeof *out->numbers);
    if (!out->numbers)
        return refused(err, "out of memory");
    const uint8_t *at = bytes;
    BitReader reader = {.at = at + line, .end = at + size};
    if (!numbers_read(&reader, k, out, err))
        return false;
    return k == best_k(out) || refused(err, "the code is not the shortest one");
}

void walks_release(Walks *walks) {
    free(walks->numbers);
    *walks = (Walks){0};
}

uint8_t *walks_write(const Walks *walks, size_t *size) {
    int k = best_k(walks);
    char line[WALKS_LINE_MAX];
    size_t length = (size_t)line_print(&walks->recipe, k, line);
    uint8_t *bytes = malloc(length + bits_of(walks, k) / 8 + 1);
    if (!bytes)
        return NULL;
    memcpy(bytes, line, length);
    BitWriter writer = {.at = bytes + length};
    for (uint32_t i = 0; i < walks->recipe.count; i++)
        gap_put(&writer, gap_of(walks, i), k);
    bits_flush(&writer);
    *size = (size_t)(writer.at - bytes);
    return bytes;
}

// ---- the book -----------------------------------------------------------------------------------

char *walks_print(const uint32_t *numbers, size_t count, size_t *size) {
    char *text = malloc(count * FEN_MAX + 1), *at = text;
    if (!text)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        Position pos;
        if (!walk_exit(numbers[i], &pos))
            continue; // the book's SHA-256 will differ
        walk_epd(&pos, at);
        at += strlen(at);
        *at++ = '\n';
    }
    *at = '\0';
    *size = (size_t)(at - text);
    return text;
}

char *walks_expand(const Walks *walks, size_t *size, Refusal *err) {
    char sha256[SHA256_TEXT_SIZE];
    char *text = walks_print(walks->numbers, walks->recipe.count, size);
    if (!text) {
        refused(err, "out of memory");
        return NULL;
    }
    sha256_text(text, *size, sha256);
    if (strcmp(sha256, walks->recipe.book) == 0)
        return text;
    refused(err, "the walks make a book with SHA-256 %s, not %s", sha256, walks->recipe.book);
    free(text);
    return NULL;
}
