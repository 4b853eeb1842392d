// See test_stats.h.
#include "server/pages/test_stats.h"

#include <math.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/ledger/kind_values.h"
#include "server/ledger/kinds.h"
#include "server/ledger/sprt_state.h"

static TestFacts facts_of(const json_t *row, double games_per_hour) {
    static const char *const keys[] = {"ptnml0", "ptnml1", "ptnml2", "ptnml3", "ptnml4"};
    TestFacts f = {
        .row = row,
        .rule = {test_kind_of(member_text(row, "kind")),
                 verdict_bounds(member_text(row, "model"), member_real(row, "elo0"),
                                member_real(row, "elo1"), member_real(row, "alpha"),
                                member_real(row, "beta")),
                 member_int(row, "batch_pairs"), member_int(row, "pairs_max")},
        .finished = strcmp(member_text(row, "state"), "finished") == 0,
        .wins = member_real(row, "wins"),
        .losses = member_real(row, "losses"),
        .draws = member_real(row, "draws"),
        .llr = member_real(row, "llr"),
        .games_per_hour = games_per_hour,
    };
    for (int i = 0; i < 5; i++)
        f.pairs += f.counts[i] = member_real(row, keys[i]);
    if (f.rule.kind == KIND_COUNT) // of another server's making; the audit says so
        f.rule.kind = KIND_FIXED;
    verdict_state_read(member_text(row, "sprt_state"), &f.state);
    return f;
}

// ---- text and colour ----------------------------------------------------------------------------

static void add_text(const TestFacts *f, Str *out) {
    kinds[f->rule.kind]->text(f, out);
    str_printf(out, "Total: %.0f W: %.0f L: %.0f D: %.0f\n", f->wins + f->losses + f->draws,
               f->wins, f->losses, f->draws);
    str_printf(out, "Ptnml(0-2): %.0f, %.0f, %.0f, %.0f, %.0f\n", f->counts[0], f->counts[1],
               f->counts[2], f->counts[3], f->counts[4]);
}

static const char *color_of(const TestFacts *f) {
    const char *result = member_text(f->row, "result");
    if (strcmp(result, "accepted") == 0)
        return f->rule.bounds.elo0 + f->rule.bounds.elo1 < 0 ? "blue" : "green";
    if (strcmp(result, "rejected") == 0)
        return f->wins > f->losses ? "yellow" : "red";
    return strcmp(result, "completed") == 0 ? kinds[f->rule.kind]->completed_color(f) : "";
}

void test_stats_text(const json_t *test, Str *out) {
    TestFacts f = facts_of(test, 0);
    add_text(&f, out);
}

const char *test_stats_color(const json_t *test) {
    TestFacts f = facts_of(test, 0);
    return color_of(&f);
}

static json_t *plain_json(const EloEstimate *e) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "elo", kind_real(e->elo), "error",
                     kind_real(e->error), "low", kind_real(e->elo - e->error), "high",
                     kind_real(e->elo + e->error), "los", kind_real(e->los));
}

// ---- the document -------------------------------------------------------------------------------

static json_t *share_json(const TestFacts *f) {
    double all = f->wins + f->losses + f->draws, part = all > 0 ? 100 / all : 0;
    return json_pack("{s:f, s:f, s:f}", "win", f->wins * part, "draw", f->draws * part, "loss",
                     f->losses * part);
}

static void add_counts(const TestFacts *f, json_t *out) {
    json_t *ptnml = json_array();
    for (int i = 0; i < 5; i++)
        json_array_append_new(ptnml, json_integer((json_int_t)f->counts[i]));
    json_object_set_new(out, "games", json_integer((json_int_t)(2 * f->pairs)));
    json_object_set_new(out, "pairs", json_integer((json_int_t)f->pairs));
    json_object_set_new(out, "wins", json_integer((json_int_t)f->wins));
    json_object_set_new(out, "losses", json_integer((json_int_t)f->losses));
    json_object_set_new(out, "draws", json_integer((json_int_t)f->draws));
    json_object_set_new(out, "ptnml", ptnml);
    json_object_set_new(out, "wdl_percent", share_json(f));
}

json_t *test_stats_document(const json_t *test, double games_per_hour) {
    TestFacts f = facts_of(test, games_per_hour);
    EloEstimate e = elo_estimate(f.counts, 5);
    bool any = f.pairs > 0;
    Str text;
    str_init(&text, 1024);
    add_text(&f, &text);
    json_t *out = json_pack("{s:s, s:s}", "text", text.data, "color", color_of(&f));
    str_release(&text);
    add_counts(&f, out);
    kinds[f.rule.kind]->document(&f, out);
    json_object_set_new(out, "plain", any ? plain_json(&e) : json_null());
    json_object_set_new(
        out, "nelo",
        any ? json_pack("{s:o, s:o}", "nelo", kind_real(e.nelo), "error", kind_real(e.nelo_error))
            : json_null());
    json_object_set_new(out, "pair_ratio", kind_real(e.pair_ratio));
    json_object_set_new(out, "draw_ratio", kind_real(any ? f.draws / (2 * f.pairs) : NAN));
    json_object_set_new(out, "draw_ratio_pairs", kind_real(any ? e.draw_ratio : NAN));
    return out;
}
