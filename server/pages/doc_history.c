// How a test came to its present numbers: the points of its workload, score and Elo after its
// batches, thinned out.
#include <math.h>

#include "server/pages/doc.h"
#include "sprt/sprt.h"
#include "sql/ledger.h"
#include "sql/pages.h"

enum { POINTS_MAX = 300 };

typedef struct History {
    json_t *units, *time, *points;       // of every test
    json_t *games, *score, *elo, *error; // of tests that play pairs
    double counts[5], pairs;
} History;

static void add_real(json_t *column, double value, double unit) {
    json_array_append_new(column,
                          isfinite(value) ? json_real(round(value / unit) * unit) : json_null());
}

// The numbers that the workload kept after the batch: {"llr": 1.25} adds to the column llr.
static void add_points(History *h, const char *text) {
    json_auto_t *points = json_loads(text, 0, NULL);
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
    EloEstimate e = elo_estimate(h->counts, 5);
    double points = 0;
    for (int i = 0; i < 5; i++)
        points += h->counts[i] * i / 4;
    json_array_append_new(h->games, json_integer((json_int_t)(2 * h->pairs)));
    add_real(h->score, points / h->pairs, 1e-6);
    add_real(h->elo, e.elo, 1e-3);
    add_real(h->error, e.error, 1e-3);
}

static void count_outcomes(History *h, const char *outcomes) {
    for (; *outcomes >= '0' && *outcomes <= '4'; outcomes++) {
        h->counts[*outcomes - '0']++;
        h->pairs++;
    }
}

// Every so many batches, and always the last.
static void walk(const DocContext *ctx, int64_t test, History *h) {
    int64_t count = sql_page_history_count(ctx->db, 0, test), i = 0, units = 0;
    int64_t step = count / POINTS_MAX + 1;
    SqlPageHistoryRows rows scope(sql_rows_end) = sql_page_history(ctx->db, test);
    while (sql_page_history_next(&rows)) {
        const SqlPageHistory *row = &rows.row;
        units += row->units;
        count_outcomes(h, row->outcomes ? row->outcomes : "");
        if (++i % step != 0 && i != count)
            continue;
        json_array_append_new(h->units, json_integer(units));
        add_real(h->time, row->received, 1e-3);
        add_points(h, row->points);
        if (row->outcomes)
            add_pairs(h);
    }
}

json_t *doc_history(const DocContext *ctx, int64_t test, Error *err) {
    char *state scope(free_ptr) = sql_ledger_test_state(ctx->db, test);
    if (!state)
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
    walk(ctx, test, &h);
    kept = json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "test", (json_int_t)test, "units",
                     h.units, "time", h.time, "points", h.points, "games", h.games, "score",
                     h.score, "elo", h.elo, "error", h.error);
    doc_keep(ctx, key, false, kept);
    return kept;
}
