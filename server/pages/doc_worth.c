// See doc_worth.h. The prior comes from the final counts of many tests, which takes 40 ms where it
// takes longest. It is kept until the next event: without one, no test ends, and no result of one
// that has ended changes.
#include "server/pages/doc_worth.h"

#include <math.h>

#include "server/common/json_member.h"
#include "server/pages/format.h"
#include "sprt/worth.h"
#include "sql/pages.h"

enum { RESULTS_MAX = 2000, TEXT_MAX = 600 };

// ---- the prior ----------------------------------------------------------------------------------

static WorthPrior fit(const DocContext *ctx, const json_t *row, const json_t *bounds) {
    WorthResult *results = xcalloc(RESULTS_MAX, sizeof *results);
    int count = 0;
    SqlPageFirstResultsRows rows scope(sql_rows_end) = sql_page_first_results(
        ctx->db, .engine = member_int(row, "engine_id"), .workload = member_text(row, "workload"),
        .model = member_text(bounds, "model"), .elo0 = member_real(bounds, "elo0"),
        .elo1 = member_real(bounds, "elo1"), .limit = RESULTS_MAX);
    while (sql_page_first_results_next(&rows)) {
        const SqlPageFirstResults *n = &rows.row;
        double counts[5] = {(double)n->n0, (double)n->n1, (double)n->n2, (double)n->n3,
                            (double)n->n4};
        count += worth_result(counts, &results[count]);
    }
    WorthPrior prior = worth_prior(results, count);
    free(results);
    return prior;
}

static json_t *number_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *prior_of(const DocContext *ctx, const json_t *row, const json_t *bounds) {
    DocContext until_event = *ctx;
    until_event.cache_version = (unsigned long)sql_page_newest_event(ctx->db, 0);
    char *key scope(free_ptr) =
        xasprintf("prior %lld %s %s %.17g %.17g", (long long)member_int(row, "engine_id"),
                  member_text(row, "workload"), member_text(bounds, "model"),
                  member_real(bounds, "elo0"), member_real(bounds, "elo1"));
    json_t *kept = doc_kept(&until_event, key, false);
    if (kept)
        return kept;
    WorthPrior prior = fit(ctx, row, bounds);
    kept = json_pack("{s:o, s:o, s:i}", "mean", number_or_null(prior.mean), "spread",
                     number_or_null(prior.spread), "tests", prior.tests);
    doc_keep(&until_event, key, false, kept);
    return kept;
}

// ---- words --------------------------------------------------------------------------------------

static void add_elo(Str *text, const json_t *of, const char *name) {
    format_number(member_real(of, name), 2, true, text);
}

static void add_kind(Str *text, const json_t *test) {
    str_printf(text, "first tests of this engine by %s",
               member_text(json_object_get(test, "stats"), "terms"));
}

// Why there is no expected worth; "" if there is.
static void why_none(const DocContext *ctx, const json_t *test, const json_t *prior, bool is_read,
                     Str *text) {
    if (json_is_null(json_object_get(prior, "mean"))) {
        str_printf(text, "Not known yet: it needs %d finished ", WORTH_TESTS_MIN);
        add_kind(text, test);
        str_printf(text, ", and there are %lld.", (long long)member_int(prior, "tests"));
    } else if (!sql_page_first_test(ctx->db, member_int(test, "id"))) {
        str_puts(text, "Not known: this is not the first test of its tree, and the results of "
                       "first tests do not say what patches are worth that are tested again.");
    } else if (!is_read) {
        str_printf(text,
                   "Not known yet: it needs %d pairs, and %d that are won and %d that are lost.",
                   WORTH_PAIRS_MIN, WORTH_SIDE_MIN, WORTH_SIDE_MIN);
    }
}

static void in_words(const json_t *test, const json_t *worth, Str *text) {
    const json_t *prior = json_object_get(worth, "prior");
    str_printf(text, "The mean, given its games and %lld finished ",
               (long long)member_int(prior, "tests"));
    add_kind(text, test);
    str_puts(text, ", whose worth has the mean ");
    add_elo(text, prior, "mean");
    str_puts(text, " and the standard deviation ");
    format_number(member_real(prior, "spread"), 2, false, text);
    str_puts(text, " in normalized Elo. In that unit: ");
    add_elo(text, worth, "nelo");
    str_puts(text, " [");
    add_elo(text, worth, "nelo_low");
    str_puts(text, ", ");
    add_elo(text, worth, "nelo_high");
    str_puts(text, "].");
    if (member_real(prior, "spread") == 0)
        str_puts(text,
                 " Chance explains all differences between the results of these tests, so this "
                 "patch is taken for one like the others.");
}

// ---- the member ---------------------------------------------------------------------------------

static void add_numbers(const json_t *prior, const WorthResult *result, const double counts[5],
                        json_t *worth) {
    WorthPrior known = {member_real(prior, "mean"), member_real(prior, "spread"), 0};
    Worth nelo = worth_expected(&known, result), elo = worth_in_elo(&nelo, counts);
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"elo", elo.mean},   {"low", elo.low},       {"high", elo.high},
                   {"nelo", nelo.mean}, {"nelo_low", nelo.low}, {"nelo_high", nelo.high}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_object_set_new(worth, numbers[i].name, json_real(numbers[i].value));
}

static json_t *worth_of(const DocContext *ctx, const json_t *row, const json_t *test) {
    const json_t *stats = json_object_get(test, "stats"),
                 *bounds = json_object_get(stats, "bounds");
    double counts[5];
    if (!bounds || !member_int(stats, "pairs"))
        return json_null();
    for (size_t i = 0; i < 5; i++)
        counts[i] = json_number_value(json_array_get(json_object_get(stats, "ptnml"), i));
    Str text scope(str_release);
    str_init(&text, TEXT_MAX);
    WorthResult result;
    bool is_read = worth_result(counts, &result);
    json_t *prior = prior_of(ctx, row, bounds);
    json_t *worth = json_pack("{s:n, s:n, s:n, s:n, s:n, s:n, s:o}", "elo", "low", "high", "nelo",
                              "nelo_low", "nelo_high", "prior", prior);
    why_none(ctx, test, prior, is_read, &text);
    if (!text.size) {
        add_numbers(prior, &result, counts, worth);
        in_words(test, worth, &text);
    }
    json_object_set_new(worth, "known", json_boolean(json_is_real(json_object_get(worth, "elo"))));
    json_object_set_new(worth, "text", json_string(text.data));
    return worth;
}

void doc_add_worth(const DocContext *ctx, const json_t *row, json_t *test) {
    json_object_set_new(test, "worth", worth_of(ctx, row, test));
}
