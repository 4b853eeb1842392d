// See opening_results.h.
#include "server/pages/opening_results.h"

#include <stdlib.h>

#include "server/common/str.h"
#include "server/storage/book.h"
#include "sql/books.h"

static void add_batch(OpeningResults *out, int64_t openings, const SqlPageBookBatches *batch) {
    for (int64_t i = 0; batch->outcomes[i]; i++, out->pairs++) {
        uint64_t pair = (uint64_t)(batch->first + i) % (uint64_t)openings;
        uint64_t line = book_order((uint64_t)batch->seed, pair, (uint64_t)openings);
        out->items[line].pairs++;
        out->items[line].decisive += batch->outcomes[i] != '2';
    }
}

static int by_pairs(const void *a, const void *b) {
    const OpeningResult *x = a, *y = b;
    if (x->pairs != y->pairs)
        return x->pairs < y->pairs ? 1 : -1;
    if (x->decisive != y->decisive)
        return x->decisive < y->decisive ? 1 : -1;
    return x->number < y->number ? -1 : 1;
}

void opening_results(Db *db, int64_t book, int64_t openings, OpeningResults *out) {
    *out = (OpeningResults){.items = xcalloc((size_t)openings, sizeof *out->items)};
    SqlPageBookBatchesRows rows scope(sql_rows_end) = sql_page_book_batches(db, book);
    while (!out->partial && sql_page_book_batches_next(&rows)) {
        add_batch(out, openings, &rows.row);
        out->partial = out->pairs >= RESULTS_PAIRS_MAX;
    }
    for (int64_t line = 0; line < openings; line++)
        if (out->items[line].pairs) {
            out->items[out->count] = out->items[line];
            out->items[out->count++].number = line;
        }
    qsort(out->items, (size_t)out->count, sizeof *out->items, by_pairs);
}

void opening_results_release(OpeningResults *results) {
    free(results->items);
    results->items = NULL;
}
