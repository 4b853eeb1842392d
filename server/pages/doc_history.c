// How a test came to its present numbers: the points of its workload, score and Elo after its
// batches, thinned out: server/ledger/history.h.
#include <math.h>

#include "server/ledger/count.h"
#include "server/ledger/pairs.h"
#include "server/pages/doc.h"
#include "sprt/sprt.h"
#include "sql/ledger.h"
#include "sql/pages.h"

typedef struct History {
    json_t *units, *time, *points;       // of every test
    json_t *games, *score, *elo, *error; // of tests that play pairs
    Count count;                         // the test's parameters, and its results after a batch
} History;

static void add_real(json_t *column, double value, double unit) {
    json_array_append_new(column,
                          isfinite(value) ? json_real(round(value / unit) * unit) : json_null());
}

// The numbers of the workload: {"llr": 1.25} adds to the column llr.
static void add_points(History *h) {
    const Count *c = &h->count;
    json_auto_t *points = c->workload->points(&c->test, c->state);
    const char *name;
    json_t *value;
    json_object_foreach (points, name, value) {
        if (!json_object_get(h->points, name))
            json_object_set_new(h->points, name, json_array());
        add_real(json_object_get(h->points, name),
                 json_is_number(value) ? json_number_value(value) : NAN, 1e-4);
    }
}

static void add_pairs(History *h) {
    double counts[5], sum = 0, pairs = 0;
    Pairs p = pairs_read(h->count.state);
    for (int i = 0; i < 5; i++) {
        counts[i] = (double)p.ptnml[i];
        pairs += counts[i];
        sum += counts[i] * i / 4;
    }
    EloEstimate e = elo_estimate(counts, 5);
    json_array_append_new(h->games, json_integer((json_int_t)(2 * pairs)));
    add_real(h->score, sum / pairs, 1e-6);
    add_real(h->elo, e.elo, 1e-3);
    add_real(h->error, e.error, 1e-3);
}

// A batch that is excluded adds no units.
static void walk(const DocContext *ctx, int64_t test, History *h) {
    int64_t units = 0;
    SqlPageHistoryRows rows scope(sql_rows_end) = sql_page_history(ctx->db, test);
    while (sql_page_history_next(&rows)) {
        const SqlPageHistory *row = &rows.row;
        if (row->units == units)
            continue;
        units = row->units;
        json_decref(h->count.state);
        h->count.state = json_loads(row->state, 0, NULL);
        json_array_append_new(h->units, json_integer(units));
        add_real(h->time, row->received, 1e-3);
        add_points(h);
        if (h->count.workload->unit == UNIT_PAIR)
            add_pairs(h);
    }
}

json_t *doc_history(const DocContext *ctx, int64_t test, Error *err) {
    SqlLedgerCount row scope(sql_row_free) = {0};
    if (!sql_ledger_count(ctx->db, &row, .test = test, .task = 0))
        return doc_missing(err, "test", test);
    char *key scope(free_ptr) = xasprintf("history %lld", (long long)test);
    json_t *kept = doc_kept(ctx, key, false);
    if (kept)
        return kept;
    History h = {.units = json_array(),
                 .time = json_array(),
                 .points = json_object(),
                 .games = json_array(),
                 .score = json_array(),
                 .elo = json_array(),
                 .error = json_array()};
    bool read = count_init(&h.count, row.workload, row.parameters, row.counts, err);
    h.count.test.batch_units = row.batch_pairs;
    h.count.test.units_max = row.pairs_max;
    if (read)
        walk(ctx, test, &h);
    count_release(&h.count);
    kept = json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "test", (json_int_t)test, "units",
                     h.units, "time", h.time, "points", h.points, "games", h.games, "score",
                     h.score, "elo", h.elo, "error", h.error);
    if (!read) {
        json_decref(kept);
        return NULL;
    }
    doc_keep(ctx, key, false, kept);
    return kept;
}
