// How a test came to its present numbers: LLR, score and Elo after its batches, thinned out.
#include <math.h>

#include "server/pages/doc.h"
#include "sprt/sprt.h"
#include "sql/ledger.h"
#include "sql/pages.h"

enum { POINTS_MAX = 300 };

typedef struct History {
    json_t *games, *llr, *score, *elo, *error, *time; // columns
    double counts[5], pairs;
} History;

static void add_real(json_t *column, double value, double unit) {
    json_array_append_new(column,
                          isfinite(value) ? json_real(round(value / unit) * unit) : json_null());
}

static void add_point(History *h, double llr, double received) {
    EloEstimate e = elo_estimate(h->counts, 5);
    double points = 0;
    for (int i = 0; i < 5; i++)
        points += h->counts[i] * i / 4;
    json_array_append_new(h->games, json_integer((json_int_t)(2 * h->pairs)));
    add_real(h->llr, llr, 1e-4);
    add_real(h->score, points / h->pairs, 1e-6);
    add_real(h->elo, e.elo, 1e-3);
    add_real(h->error, e.error, 1e-3);
    add_real(h->time, received, 1e-3);
}

static void count_outcomes(History *h, const char *outcomes) {
    for (; *outcomes >= '0' && *outcomes <= '4'; outcomes++) {
        h->counts[*outcomes - '0']++;
        h->pairs++;
    }
}

// Every so many batches, and always the last.
static void walk(const DocContext *ctx, int64_t test, History *h) {
    int64_t count = sql_page_history_count(ctx->db, 0, test), i = 0;
    int64_t step = count / POINTS_MAX + 1;
    SqlPageHistoryRows rows scope(sql_rows_end) = sql_page_history(ctx->db, test);
    while (sql_page_history_next(&rows)) {
        count_outcomes(h, rows.row.outcomes);
        if (++i % step == 0 || i == count)
            add_point(h, rows.row.llr, rows.row.received);
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
    History h = {.games = json_array(),
                 .llr = json_array(),
                 .score = json_array(),
                 .elo = json_array(),
                 .error = json_array(),
                 .time = json_array()};
    walk(ctx, test, &h);
    kept =
        json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "test", (json_int_t)test, "games", h.games,
                  "llr", h.llr, "score", h.score, "elo", h.elo, "error", h.error, "time", h.time);
    doc_keep(ctx, key, false, kept);
    return kept;
}
