// The document of one test: what is compared, how, where it stands, who played it. One query reads
// the test with its engine, book, author and both commits. First comes the summary that lists show,
// too. Then comes what only this document has: the test whose approval covers the base, a sentence
// on why no machine plays, the hash that an approval may name, the two sides and the nets that they
// lack, and the settings. Next are the sums and lists of batches, tasks, events and failures. Their
// queries are expensive and their result is the same for all viewers, so it is kept until the next
// COMMIT. Of all parts only the actions depend on the viewer. The warnings come last: other parts
// give rise to them.
//
// Deliberately not done: numbers are not formatted, except within warnings, and no chart is drawn.
// This is for page_test.c and the templates. The diff is a document of its own. The row has every
// column of the test, and a member gets into the document only by its name or because people type
// it: no new column becomes public by accident. Lists end at the LIMIT of their query, and the
// totals of the test do not come from them.
#include <math.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/ledger/verdict_mark.h"
#include "server/pages/doc.h"
#include "server/pages/doc_actions.h"
#include "server/pages/doc_book.h"
#include "server/pages/doc_classes.h"
#include "server/pages/doc_games.h"
#include "server/pages/doc_merge.h"
#include "server/pages/doc_misfits.h"
#include "server/pages/doc_reruns.h"
#include "server/pages/doc_review.h"
#include "server/pages/doc_said.h"
#include "server/pages/doc_trust.h"
#include "server/pages/doc_waiting.h"
#include "server/pages/doc_without.h"
#include "server/pages/doc_worth.h"
#include "server/submit/fields.h"
#include "server/submit/ideas.h"
#include "server/submit/net_upload.h"
#include "server/submit/test_columns.h"
#include "sql/pages.h"
#include "sql/tests.h"

// ---- the two sides ------------------------------------------------------------------------------

// In words, which options the engine lists.
static json_t *option_summary(const json_t *list) {
    const char *text = json_string_value(list);
    int lines = 0;
    for (const char *p = text; p && (p = strchr(p, '\n')); p++)
        lines++;
    if (!text)
        return json_string("not known; machines list them after the build");
    if (!lines)
        return json_string("none");
    char *words scope(free_ptr) = xasprintf("%d option%s", lines, lines == 1 ? "" : "s");
    return json_string(words);
}

static json_t *side(const json_t *row, const char *name) {
    static const char *const members[] = {"commit",  "subject",     "author", "bench", "snapshot",
                                          "options", "option_list", "net",    "files"};
    json_t *out = json_object();
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        char *column scope(free_ptr) = xasprintf("%s_%s", name, members[i]);
        json_object_set(out, members[i], json_object_get(row, column));
    }
    json_object_set_new(out, "option_summary", option_summary(json_object_get(out, "option_list")));
    char *open scope(free_ptr) = xasprintf("%s_bench_open", name);
    bool known = !json_is_null(json_object_get(out, "bench"));
    json_object_set_new(out, "bench_declared",
                        json_boolean(known && json_is_true(json_object_get(row, open))));
    return out;
}

// Marks the sides that wait for a net.
static void add_missing_nets(json_t *test, json_t *missing) {
    static const char *const sides[] = {"new", "base"};
    for (size_t s = 0; s < 2; s++) {
        size_t i;
        json_t *net, *side = json_object_get(test, sides[s]);
        bool waits = false, has_files = json_array_size(json_object_get(side, "files")) > 0;
        json_array_foreach (missing, i, net)
            waits |= json_equal(json_object_get(net, "sha256"), json_object_get(side, "net"));
        json_object_set_new(side, "net_missing", json_boolean(waits && has_files));
    }
    json_object_set_new(test, "missing_nets", missing);
}

// All that people typed and that affects what runs.
static json_t *settings(const json_t *row) {
    json_t *out = json_object();
    doc_copy(out, row, "openings seed pairs_max");
    const FieldRule *rule;
    for (int i = 0; (rule = submit_rule_at(i)); i++)
        if (rule->change == CHANGE_EARLY || rule->change == CHANGE_UNDEALT)
            json_object_set(out, rule->name, json_object_get(row, rule->name));
    json_object_set_new(out, "parameters", json_loads(member_text(row, "parameters"), 0, NULL));
    json_object_set(out, "adjudication", json_object_get(row, "rules"));
    json_object_set(out, "build", json_object_get(row, "build"));
    json_object_set_new(out, "games_max", json_integer(2 * member_int(row, "pairs_max")));
    return out;
}

// What people typed and no approval covers.
static void add_words(json_t *test, const json_t *row) {
    for (const TestColumn *column = test_columns; column->name; column++)
        if (column->kind == COLUMN_SHOWN && submit_rule(column->name))
            json_object_set(test, column->name, json_object_get(row, column->name));
}

// ---- owners -------------------------------------------------------------------------------------

// A sentence if more than half of the result comes from one unproven owner, else null.
static json_t *owner_warning(const json_t *owner) {
    double share = json_number_value(json_object_get(owner, "share"));
    const char *user = json_string_value(json_object_get(owner, "user"));
    if (share <= 0.5 || strcmp(member_text(owner, "level"), "unproven") != 0)
        return json_null();
    char *text scope(free_ptr) =
        xasprintf("One unproven owner (%s) played %.0f\u00a0%% of the pairs that count.",
                  user ? user : "machines without an account", 100 * share);
    return json_string(text);
}

// ---- CPU time while the other side was to move --------------------------------------------------

// A side that uses more than this for each game computes in its opponent's time, or is slow to end
// its search.
static const double REST_NOTABLE_S = 0.01;

static json_t *rest_warning(const json_t *rest, const json_t *stats, double games) {
    double new_s = member_real(rest, "new"), base_s = member_real(rest, "base");
    int64_t new_lost = member_int(stats, "ponders"),
            base_lost = member_int(stats, "ponders_against");
    if (new_lost + base_lost > 0) {
        char *lost scope(free_ptr) =
            xasprintf("The new side lost %lld of %.0f games because it computed in its opponent's "
                      "time, the base %lld.",
                      (long long)new_lost, games, (long long)base_lost);
        return json_string(lost);
    }
    if (fmax(new_s, base_s) <= REST_NOTABLE_S * games)
        return json_null();
    char *text scope(free_ptr) =
        xasprintf("While the other side was to move, the new side used %.1f\u00a0s of CPU time and "
                  "the base %.1f\u00a0s.",
                  new_s, base_s);
    return json_string(text);
}

// ---- what people did to the verdict -------------------------------------------------------------

// The text block of the statistics says it as well.
static void add_mark_lines(json_t *test) {
    json_t *stats = json_object_get(test, "stats");
    const json_t *line, *lines = json_object_get(json_object_get(test, "verdict_mark"), "lines");
    size_t i;
    Str text scope(str_release);
    str_init(&text, 16 << 10);
    str_puts(&text, member_text(stats, "text"));
    if (json_array_size(lines) && text.size && text.data[text.size - 1] != '\n')
        str_puts(&text, "\n");
    json_array_foreach (lines, i, line)
        str_printf(&text, "%s\n", json_string_value(line));
    json_object_set_new(stats, "text", json_string(text.data));
}

// ---- the whole ----------------------------------------------------------------------------------

// What an owner began and did not report, and how others fared with it; null if nothing.
static json_t *dropped_text(const json_t *owner) {
    int64_t dropped = member_int(owner, "dropped"), begun = dropped + member_int(owner, "batches"),
            pairs = member_int(owner, "again_pairs");
    if (dropped == 0)
        return json_null();
    const char *user = member_text(owner, "user");
    Str text scope(str_release);
    str_init(&text, 300);
    str_printf(&text, "%s%s did not report %lld of %lld batches that began (%.1f %%).",
               *user ? "" : "Machines without an account", user, (long long)dropped,
               (long long)begun, 100.0 * (double)dropped / (double)begun);
    if (pairs && json_is_number(json_object_get(owner, "score")))
        str_printf(&text,
                   " Others scored %.1f %% in %lld of those pairs; what was reported: %.1f %%.",
                   100 * member_real(owner, "again_score"), (long long)pairs,
                   100 * member_real(owner, "score"));
    return json_string(text.data);
}

static json_t *owners(const DocContext *ctx, int64_t id) {
    json_t *list = sql_page_owners_of_test(ctx->db, id), *owner;
    size_t i;
    json_array_foreach (list, i, owner) {
        json_object_set_new(owner, "dropped_text", dropped_text(owner));
        json_object_del(owner, "batches");
    }
    return list;
}

// What the batches, tasks and events of a test add up to, and the tests of its idea: the same for
// all who ask.
static json_t *people(const DocContext *ctx, int64_t id) {
    char *key scope(free_ptr) = xasprintf("people %lld", (long long)id);
    json_t *test = doc_kept(ctx, key, false);
    if (test)
        return test;
    test = json_object();
    json_t *workers = sql_page_workers_of_test(ctx->db, id);
    doc_add_classes(test, workers);
    json_object_set_new(test, "workers", workers);
    json_object_set_new(test, "owners", owners(ctx, id));
    json_object_set_new(test, "shares", doc_shares(ctx, id));
    json_object_set_new(test, "rest", sql_page_rest_of_test(ctx->db, id));
    doc_add_said(ctx, id, test);
    doc_add_misfits(ctx, id, test);
    doc_add_reruns(ctx, id, test);
    json_object_set_new(test, "uncounted", sql_page_uncounted(ctx->db, id));
    json_object_set_new(test, "flagged", sql_page_flagged(ctx->db, id));
    json_object_set_new(test, "exclusions", sql_page_exclusions(ctx->db, id));
    json_object_set_new(test, "verdict_mark", verdict_mark(ctx->db, id));
    json_object_set_new(test, "faults", doc_faults_short(ctx, id));
    json_object_set_new(test, "tasks", sql_page_tasks_of_test(ctx->db, id));
    json_object_set_new(test, "events", sql_page_events_of_test(ctx->db, id));
    json_object_set_new(test, "failures", sql_page_failures_of_test(ctx->db, id));
    json_object_set_new(test, "seen_before", ideas_of_test(ctx->db, id));
    doc_keep(ctx, key, false, test);
    return test;
}

// All that the document warns of, in one list.
static json_t *warnings(const DocContext *ctx, const json_t *row, const json_t *test) {
    static const char *const names[] = {"owner_warning",  "rest_warning",  "said_warning",
                                        "misfit_warning", "rerun_warning", "book_warning"};
    json_t *list = doc_warnings(row, json_object_get(test, "failures"));
    json_auto_t *of_review = doc_review_of_test(ctx, row);
    json_array_extend(list, of_review);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_is_string(json_object_get(test, names[i])))
            json_array_append(list, json_object_get(test, names[i]));
    json_t *seen_before = json_object_get(json_object_get(test, "seen_before"), "text");
    if (json_is_string(seen_before))
        json_array_append(list, seen_before);
    return list;
}

json_t *doc_test(const DocContext *ctx, int64_t id, Error *err) {
    char hash[65] = "";
    json_auto_t *row = sql_page_test(ctx->db, id);
    if (!row)
        return doc_missing(err, "test", id);
    json_t *test = doc_test_summary(ctx, row);
    doc_copy(test, row,
             "branch merged retest harmful base_in_baseline games_dropped patch_dropped undone");
    add_words(test, row);
    doc_add_worth(ctx, row, test);
    json_object_set_new(row, "base_test",
                        doc_base_test(ctx->db, member_int(row, "engine_id"),
                                      member_text(row, "base_commit"),
                                      json_is_true(json_object_get(row, "base_in_baseline"))));
    doc_copy(test, row, "base_test");
    json_object_set_new(test, "idle", doc_idle(ctx, test));
    json_object_set(test, "approved_by", json_object_get(row, "approved_by_name"));
    json_object_set_new(test, "approval_hash",
                        test_approval_hash(ctx->db, id, hash) ? json_string(hash) : json_null());
    json_object_set_new(test, "new", side(row, "new"));
    json_object_set_new(test, "base", side(row, "base"));
    add_missing_nets(test, net_missing(ctx->db, id));
    json_object_set_new(test, "settings", settings(row));
    json_auto_t *told = people(ctx, id);
    json_object_update(test, told);
    add_mark_lines(test);
    json_object_set_new(test, "games", doc_games(ctx, row, json_object_get(test, "stats")));
    json_object_set_new(test, "without", doc_without(ctx, row));
    json_object_set_new(test, "waiting", doc_waiting(ctx, row));
    json_object_set_new(test, "actions", doc_actions(ctx, id));
    json_object_set_new(test, "merging", doc_merging(ctx, id));
    json_object_set_new(test, "owner_warning",
                        owner_warning(json_array_get(json_object_get(test, "owners"), 0)));
    json_object_set_new(test, "rest_warning",
                        rest_warning(json_object_get(test, "rest"), json_object_get(test, "stats"),
                                     2 * member_real(row, "units_counted")));
    json_object_set_new(test, "book_warning",
                        doc_book_warning(row, json_object_get(test, "stats")));
    json_object_set_new(test, "book_note", doc_book_note(row));
    json_object_set_new(test, "warnings", warnings(ctx, row, test));
    return test;
}
