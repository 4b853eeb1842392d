// The document of a check: what a submission would be refused for, whether its patch applies, which
// of its files are risky, what its test will probably cost, and what was tested before. Parts that
// the problems leave without a ground are null.
//
// The figures rest on an assumption about the pairs of two equal engines, which the document
// states: those of the last finished tests with the same book and clock, else independent games of
// which half are drawn.
#include "server/pages/doc_check.h"

#include <string.h>

#include "server/common/json_member.h"
#include "server/common/time_control.h"
#include "server/ledger/book_use.h"
#include "server/ledger/workload.h"
#include "server/pages/doc_actions.h"
#include "server/pages/doc_book.h"
#include "server/pages/doc_review.h"
#include "server/pages/format.h"
#include "server/pages/statistics.h"
#include "server/patch/patch.h"
#include "server/submit/fields.h"
#include "server/submit/ideas.h"
#include "server/submit/submit.h"
#include "server/submit/test_columns.h"
#include "sql/nets.h"
#include "sql/pages.h"
#include "sql/tests.h"

static bool is_applied(const Submission *s) {
    return s && *s->identity.tree;
}

// ---- whether it applies, and what it changes ----------------------------------------------------

// Null: the check did not come so far, because of other problems.
static json_t *applies(const Submission *s, const json_t *problems) {
    size_t i;
    json_t *problem;
    if (is_applied(s))
        return json_true();
    json_array_foreach (problems, i, problem) {
        const char *field = member_text(problem, "field");
        bool missing = strcmp(member_text(problem, "code"), "missing_field") == 0;
        if (s && *s->base && !missing &&
            (strcmp(field, "patch") == 0 || strcmp(field, "commit") == 0))
            return json_false();
    }
    return json_null();
}

static json_t *base_of(const Submission *s) {
    const CommitInfo *info = s ? &s->base_record.info : NULL;
    return info && info->subject
               ? json_pack("{s:s, s:s}", "commit", s->base, "subject", info->subject)
               : json_null();
}

static void add_risky(json_t *list, const json_t *diff, const char *of) {
    size_t i;
    json_t *file;
    json_array_foreach (json_object_get(diff, "files"), i, file) {
        if (!json_array_size(json_object_get(file, "risk")))
            continue;
        json_t *risky = json_pack("{s:s}", "of", of);
        doc_copy(risky, file, "path status risk");
        json_array_append_new(list, risky);
    }
}

// The diffs that an approver sees. Null: the patch does not apply.
static json_t *diff_of(const Submission *s, Error *err) {
    if (!is_applied(s))
        return json_null();
    DiffCommits commits = {s->new, s->base, s->engine.baseline};
    return patch_test_document(s->repo, &commits, DIFF_SHORT, err);
}

// The same without their lines.
static json_t *changes_of(const json_t *diff) {
    if (json_is_null(diff))
        return json_null();
    json_t *changes = json_object(), *risky = json_array();
    doc_copy(changes, diff, "additions deletions unseen_files");
    json_object_set_new(changes, "files",
                        json_integer((json_int_t)json_array_size(json_object_get(diff, "files"))));
    add_risky(risky, diff, "patch");
    add_risky(risky, json_object_get(diff, "base_diff"), "base");
    json_object_set_new(changes, "risky", risky);
    return changes;
}

// ---- nets ---------------------------------------------------------------------------------------

static void add_net(const DocContext *ctx, const Submission *s, const CommitRecord *record,
                    const char *sha, json_t *nets) {
    int64_t engine = s->engine.id;
    const char *net = record->net.sha;
    char *of_row scope(free_ptr) = sql_net_missing_of_commit(ctx->db, .engine = engine, .sha = sha);
    bool needed =
        *record->net.path && sql_net_size(ctx->db, -1, .engine = engine, .sha256 = net) < 0;
    size_t i;
    json_t *there;
    json_array_foreach (nets, i, there)
        needed = needed && strcmp(member_text(there, "sha256"), net) != 0;
    if ((needed || of_row) && strcmp(s->net.sha, net) != 0)
        json_array_append_new(nets, json_pack("{s:s}", "sha256", net));
}

static json_t *missing_nets(const DocContext *ctx, const Submission *s) {
    json_t *nets = json_array();
    if (is_applied(s)) {
        add_net(ctx, s, &s->new_record, s->new, nets);
        add_net(ctx, s, &s->base_record, s->base, nets);
    }
    return nets;
}

// ---- what it will cost --------------------------------------------------------------------------

typedef struct Assumed {
    double even[5];
    int64_t tests, pairs; // that were played; 0: none
} Assumed;

// The two sides of old tests were nearly equal, so the law that does not depend on the side is that
// of equal engines.
static Assumed assume(const DocContext *ctx, const Submission *s) {
    enum { TESTS_MAX = 20, PAIRS_MIN = 500, DECIDED_MIN = 50 };
    Assumed assumed = {.even = {0.0625, 0.25, 0.375, 0.25, 0.0625}};
    SqlPagePairsBefore n = {0};
    sql_page_pairs_before(ctx->db, &n, .engine = s->engine.id, .book = s->book_id,
                          .tc = field_text(s->fields, "tc"),
                          .threads = field_whole(s->fields, "threads"), .limit = TESTS_MAX);
    int64_t decided = n.n0 + n.n1 + n.n3 + n.n4, pairs = decided + n.n2;
    if (pairs < PAIRS_MIN || decided < DECIDED_MIN)
        return assumed;
    double both = (double)(n.n0 + n.n4) / 2, one = (double)(n.n1 + n.n3) / 2;
    const double counts[5] = {both, one, (double)n.n2, one, both};
    for (int i = 0; i < 5; i++)
        assumed.even[i] = counts[i] / (double)pairs;
    assumed.tests = n.tests;
    assumed.pairs = pairs;
    return assumed;
}

static json_t *assumption_text(const Assumed *assumed) {
    Str text scope(str_release);
    str_init(&text, 400);
    if (!assumed->tests) {
        str_puts(&text, "Too few pairs were played with this book and clock, so games are taken as "
                        "independent and half of them as drawn.");
        return json_string(text.data);
    }
    json_auto_t *pairs = json_integer(assumed->pairs);
    str_puts(&text, "Pairs are taken as in the ");
    format_value("whole", pairs, &text);
    str_printf(&text, " of the last %s with this book and clock: %.0f\u00a0%% of them are even.",
               assumed->tests == 1 ? "finished test" : "finished tests", 100 * assumed->even[2]);
    return json_string(text.data);
}

// The greatest number of units: that of the test, or the end of its book.
static int64_t units_max_of(const Submission *s) {
    int64_t most = field_whole(s->fields, "pairs_max");
    int64_t limit =
        book_limit(submit_repeats(s->fields), s->openings, field_whole(s->fields, "batch_pairs"));
    return s->openings && limit >= 0 && limit < most ? limit : most;
}

static void add_cost(json_t *expected, double game_seconds, int64_t threads) {
    size_t i;
    json_t *row;
    json_array_foreach (json_object_get(expected, "cases"), i, row) {
        const json_t *units = json_object_get(row, "units");
        bool known = json_is_number(units);
        double games = 2 * json_number_value(units);
        json_object_set_new(row, "games", known ? json_real(games) : json_null());
        json_object_set_new(row, "core_hours",
                            known ? json_real(games * game_seconds * (double)threads / 3600)
                                  : json_null());
        json_object_del(row, "units");
    }
}

static json_t *expected_of(const DocContext *ctx, const Submission *s) {
    const Workload *workload = s ? workload_named(field_text(s->fields, "workload")) : NULL;
    TimeControl tc;
    Error ignored;
    if (!workload || workload->unit != UNIT_PAIR || !s->is_complete ||
        !tc_parse(field_text(s->fields, "tc"), &tc, &ignored))
        return json_null();
    WorkloadTest test = {.parameters = s->fields,
                         .batch_units = field_whole(s->fields, "batch_pairs"),
                         .units_max = units_max_of(s)};
    Assumed assumed = assume(ctx, s);
    int64_t threads = field_whole(s->fields, "threads");
    double seconds = tc_game_seconds(&tc, s->engine.reference_speed);
    json_t *expected = workload->expected(&test, assumed.even), *law = json_array();
    add_cost(expected, seconds, threads);
    for (int i = 0; i < 5; i++)
        json_array_append_new(law, json_real(assumed.even[i]));
    bool assumes = json_is_true(json_object_get(expected, "assumes"));
    json_t *more = json_pack("{s:s, s:I, s:f, s:I, s:o, s:I, s:I, s:o}", "label", workload->label,
                             "games_max", (json_int_t)(2 * test.units_max), "game_seconds", seconds,
                             "threads", (json_int_t)threads, "law", law, "law_tests",
                             (json_int_t)assumed.tests, "law_pairs", (json_int_t)assumed.pairs,
                             "text", assumes ? assumption_text(&assumed) : json_null());
    json_object_update(expected, more);
    json_object_del(expected, "assumes");
    json_decref(more);
    return expected;
}

// ---- warnings -----------------------------------------------------------------------------------

static json_t *text_or_null(char *text) {
    return text ? json_string(text) : json_null();
}

static json_t *bench_of(int64_t declared, int64_t known) {
    int64_t bench = declared ? declared : known;
    return bench ? json_integer(bench) : json_null();
}

// The members of a test's row that its warnings depend on.
static json_t *row_of(const DocContext *ctx, const Submission *s) {
    Db *db = ctx->db;
    int64_t engine = s->engine.id;
    char *new_list scope(free_ptr) = sql_commit_options(db, .engine = engine, .sha = s->new),
                   *base_list scope(free_ptr) =
                       sql_commit_options(db, .engine = engine, .sha = s->base);
    json_t *row =
        json_pack("{s:s, s:s, s:o, s:o, s:b, s:b, s:I, s:s}", "new_snapshot", s->identity.tree,
                  "base_snapshot", s->identity.base_tree, "new_option_list", text_or_null(new_list),
                  "base_option_list", text_or_null(base_list), "base_in_baseline",
                  (int)s->ground.in_baseline, "repeats", (int)submit_repeats(s->fields), "openings",
                  (json_int_t)s->openings, "state", "pending");
    json_object_set_new(row, "base_test",
                        doc_base_test(db, engine, s->base, s->ground.in_baseline));
    json_object_set_new(
        row, "new_bench",
        bench_of(s->bench, sql_commit_bench(db, 0, .engine = engine, .sha = s->new)));
    json_object_set_new(row, "base_bench",
                        bench_of(s->base_bench ? s->base_bench : s->base_record.info.bench,
                                 sql_commit_bench(db, 0, .engine = engine, .sha = s->base)));
    doc_copy(row, s->fields, "new_options base_options priority workload batch_pairs pairs_max");
    return row;
}

static void warn_of_net(const Submission *s, json_t *warnings) {
    const char *new = s->new_record.net.sha, *base = s->base_record.net.sha;
    if (strcmp(new, base) == 0)
        return;
    char *text scope(free_ptr) = xasprintf("The two sides use different nets: %.12s and %.12s.",
                                           *new ? new : "none", *base ? base : "none");
    json_array_append_new(warnings, json_string(text));
}

// The same expectation as on the page of the test.
static json_t *book_warning(const Submission *s, json_t *row) {
    if (!s->openings || !s->is_complete)
        return json_null();
    char *parameters scope(free_ptr) = test_parameters_text(s->fields);
    json_object_set_new(row, "parameters", json_string(parameters));
    json_object_set_new(row, "counts", json_string("{}"));
    json_auto_t *stats = statistics_document(row, 0);
    return doc_book_warning(row, stats);
}

static json_t *warnings_of(const DocContext *ctx, const Submission *s, const json_t *diff,
                           const json_t *seen) {
    if (!is_applied(s))
        return json_array();
    json_auto_t *row = row_of(ctx, s);
    json_t *warnings = doc_warnings(row, NULL);
    json_auto_t *of_review = doc_review_of_submission(ctx, s, diff);
    json_array_extend(warnings, of_review);
    warn_of_net(s, warnings);
    json_auto_t *of_book = book_warning(s, row);
    if (json_is_string(of_book))
        json_array_append(warnings, of_book);
    if (json_is_string(json_object_get(seen, "text")))
        json_array_append(warnings, json_object_get(seen, "text"));
    return warnings;
}

// ---- the whole ----------------------------------------------------------------------------------

json_t *doc_check(const DocContext *ctx, const Submission *s, const json_t *problems, Error *err) {
    json_auto_t *diff = diff_of(s, err);
    if (!diff)
        return NULL;
    json_t *expected = expected_of(ctx, s);
    json_t *seen = is_applied(s) && s->is_complete
                       ? ideas_of_fields(ctx->db, s->engine.id, &s->identity, s->fields)
                       : json_null();
    return json_pack("{s:b, s:O, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "ok",
                     json_array_size(problems) == 0, "problems", (json_t *)problems, "applies",
                     applies(s, problems), "base", base_of(s), "changes", changes_of(diff),
                     "missing_nets", missing_nets(ctx, s), "warnings",
                     warnings_of(ctx, s, diff, seen), "expected", expected, "seen_before", seen);
}
