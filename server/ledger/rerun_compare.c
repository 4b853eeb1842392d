// Compares the moves of two lists of games, line by line. See rerun.h.
#include <string.h>

#include "server/common/hash.h"
#include "server/ledger/game_text.h"
#include "server/ledger/replay.h"
#include "server/ledger/rerun.h"
#include "server/storage/blob.h"
#include "sql/ledger.h"

typedef struct Line {
    GameText taken;
    char text[GAME_LINE_MAX];
} Line;

// The moves of the next line of the text, which begins there afterwards; "" if there is none.
static const char *next_moves(const char **text, const char *end, Line *line) {
    const char *newline = memchr(*text, '\n', (size_t)(end - *text));
    size_t size = (size_t)((newline ? newline : end) - *text);
    line->taken.has_moves = false;
    if (size <= sizeof line->text) {
        memcpy(line->text, *text, size);
        game_text_take(line->text, size, &line->taken);
    }
    *text = newline ? newline + 1 : end;
    return line->taken.has_moves ? line->taken.moves : "";
}

// The number of the first word in which two texts differ, from 1, and both words.
static int first_word(const char *a, const char *b, int *size_a, int *size_b, const char **in_a,
                      const char **in_b) {
    for (int number = 1;; number++) {
        *in_a = a;
        *in_b = b;
        *size_a = (int)strcspn(a, " ");
        *size_b = (int)strcspn(b, " ");
        if (*size_a != *size_b || strncmp(a, b, (size_t)*size_a) != 0 || *size_a == 0)
            return number;
        a += *size_a + strspn(a + *size_a, " ");
        b += *size_b + strspn(b + *size_b, " ");
    }
}

static void describe(int game, const char *a, const char *b, char *out, size_t out_size) {
    int size_a, size_b;
    const char *in_a, *in_b;
    int ply = first_word(a, b, &size_a, &size_b, &in_a, &in_b);
    snprintf(out, out_size, "game %d of pair %d of the batch, ply %d: %.*s and %.*s", game % 2 + 1,
             game / 2 + 1, ply, size_a ? size_a : 3, size_a ? in_a : "end", size_b ? size_b : 3,
             size_b ? in_b : "end");
}

// `difference`: in words; NULL: it is not wanted.
static bool same_games(const Str *old, const char *text, size_t size, int64_t pairs,
                       char *difference, size_t difference_size) {
    Line *lines scope(free_ptr) = xmalloc(2 * sizeof *lines);
    const char *a = old->data, *a_end = a + old->size, *b = text, *b_end = text + size;
    for (int game = 0; game < 2 * pairs; game++) {
        const char *first = next_moves(&a, a_end, &lines[0]);
        const char *second = next_moves(&b, b_end, &lines[1]);
        if (strcmp(first, second) == 0)
            continue;
        if (difference)
            describe(game, first, second, difference, difference_size);
        return false;
    }
    return true;
}

static bool read_old(const char *data, const char *sha, int64_t pairs, Str *out) {
    size_t size;
    Error lost;
    char *packed scope(free_ptr) =
        sha ? blob_get(data, sha, games_packed_max(pairs), &size, &lost) : NULL;
    return packed && zstd_decompress(packed, size, out, &lost);
}

void rerun_compare(Turn *reader, const char *data, Batch *batch, int64_t pairs, const char *text,
                   size_t size) {
    SqlRerunGames games scope(sql_row_free) = {0};
    Str first scope(str_release), second scope(str_release);
    str_init(&first, games_text_max(pairs));
    str_init(&second, games_text_max(pairs));
    if (!sql_rerun_games(reader->db, &games, batch->task) ||
        !read_old(data, games.first, pairs, &first))
        return;
    batch->rerun.compared = true;
    batch->rerun.same_first = same_games(&first, text, size, pairs, batch->rerun.difference,
                                         sizeof batch->rerun.difference);
    batch->rerun.same_second = read_old(data, games.second, pairs, &second) &&
                               same_games(&second, text, size, pairs, NULL, 0);
}
