// The engines of this installation, with what tests have shown of their rules of adjudication. See
// doc.h.
#include <string.h>

#include "server/common/json_member.h"
#include "server/pages/doc.h"
#include "server/pages/doc_merge.h"
#include "server/pages/format.h"
#include "sql/pages.h"

// The games that were played on, by what the rule gave and what became of them.
typedef struct RuleCounts {
    int64_t wins, wrong_wins, draws, wrong_draws, open; // wins and draws: with another end
    int64_t thought_ms, rest_ms;
} RuleCounts;

static RuleCounts count_rows(const json_t *rows) {
    RuleCounts counts = {0};
    const json_t *row;
    size_t i;
    json_array_foreach (rows, i, row) {
        int64_t games = member_int(row, "games");
        bool wrong = strcmp(member_text(row, "judgement"), "wrong") == 0;
        counts.thought_ms += member_int(row, "thought_ms");
        counts.rest_ms += member_int(row, "rest_ms");
        if (strcmp(member_text(row, "judgement"), "unknown") == 0) {
            counts.open += games;
        } else if (strcmp(member_text(row, "ruled"), "draw") == 0) {
            counts.draws += games;
            counts.wrong_draws += wrong ? games : 0;
        } else {
            counts.wins += games;
            counts.wrong_wins += wrong ? games : 0;
        }
    }
    return counts;
}

static void add_number(Str *out, int64_t number) {
    format_number((double)number, 0, false, out);
}

static void add_part(Str *out, const char *before, int64_t games, const char *between,
                     int64_t wrong) {
    str_puts(out, before);
    add_number(out, games);
    str_puts(out, between);
    add_number(out, wrong);
}

static json_t *words(const RuleCounts *counts, double saved) {
    int64_t games = counts->wins + counts->draws + counts->open;
    Str text scope(str_release);
    str_init(&text, 600);
    str_puts(&text, "Rules of adjudication ended ");
    add_number(&text, games);
    str_puts(&text,
             games == 1 ? " game that was then played on." : " games that were then played on.");
    add_part(&text, " They gave a win in ", counts->wins, ", wrongly in ", counts->wrong_wins);
    add_part(&text, ", and a draw in ", counts->draws, ", wrongly in ", counts->wrong_draws);
    str_puts(&text, ".");
    if (counts->open) {
        str_puts(&text, " Without an end after 400 more plies: ");
        add_number(&text, counts->open);
        str_puts(&text, ".");
    }
    str_puts(&text, " In these games the rules saved ");
    format_number(100 * saved, 1, false, &text);
    str_puts(&text, "\u00a0% of the thinking time.");
    return json_stringn(text.data, text.size);
}

// Null if no game was played on.
static json_t *adjudication(Db *db, int64_t engine) {
    json_auto_t *rows = sql_page_endings(db, engine);
    RuleCounts counts = count_rows(rows);
    double all_ms = (double)(counts.thought_ms + counts.rest_ms);
    double saved = all_ms > 0 ? (double)counts.rest_ms / all_ms : 0;
    if (json_array_size(rows) == 0)
        return json_null();
    json_t *out =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:f}", "wins", (json_int_t)counts.wins, "wrong_wins",
                  (json_int_t)counts.wrong_wins, "draws", (json_int_t)counts.draws, "wrong_draws",
                  (json_int_t)counts.wrong_draws, "open", (json_int_t)counts.open, "saved", saved);
    json_object_set_new(out, "words", words(&counts, saved));
    return out;
}

json_t *doc_engines(const DocContext *ctx) {
    json_t *engine, *items = sql_page_engine_facts(ctx->db);
    size_t i;
    json_array_foreach (items, i, engine) {
        int64_t id = member_int(engine, "id");
        json_object_set_new(engine, "adjudication", adjudication(ctx->db, id));
        json_object_set_new(engine, "merges", doc_merges_of_engine(ctx, id));
    }
    return json_pack("{s:o}", "items", items);
}
