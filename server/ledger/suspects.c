// See suspects.h. The query compares; this file says it in words.
#include "server/ledger/suspects.h"

#include <math.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/common/str.h"
#include "sql/ledger.h"

// A count is named above so many standard deviations. A single fault is none: a variance of one is
// added, so it takes four where the machine's part of the games is small.
static const double SCORE_LEAST = 3;
enum { MACHINES_MOST = 100, ROWS_MOST = 700, DAY_S = 86400 };

static const struct Kind {
    const char *name, *one, *many, *what;
} kinds[] = {
    {"games", "batch", "batches", "with games that cannot have been played"},
    {"dropped", "batch", "batches", "that it began and did not report in time"},
    {"rerun", "batch", "batches", "with other games than two further machines played"},
    {"misfit", "test", "tests", "from which it is barred because its speed does not fit its clock"},
    {"crash", "game", "games", "lost by a crash, a stall or an illegal move"},
    {"time", "game", "games", "lost on time"},
    {"ponder", "game", "games", "lost by computing in the opponent's time"},
    {"said", "move", "moves", "with a wrong principal variation, mate or score"},
    {"load", "batch", "batches", "in which it was busy, slow or swapping"},
};

static const struct Kind *kind_of(const char *name) {
    size_t i = sizeof kinds / sizeof *kinds - 1;
    while (i > 0 && strcmp(kinds[i].name, name) != 0)
        i--;
    return &kinds[i];
}

// What its owner left out, and whether that went worse for it than what it reported.
static json_t *dropped_text(Db *db, double since, const SqlLedgerSuspects *row) {
    SqlBegunDropper owner = {0};
    Str text scope(str_release);
    str_init(&text, 400);
    str_printf(&text, "%lld %s that it began and did not report in time", (long long)row->count,
               row->count == 1 ? "batch" : "batches");
    if (sql_begun_dropper(db, &owner, .since = since, .worker = row->worker_id))
        str_printf(&text,
                   "; its owner: %lld of %lld in %d days (%.1f %%, median of vouched owners %.1f "
                   "%%)",
                   (long long)owner.dropped, (long long)owner.begun, SUSPECT_DAYS,
                   100.0 * (double)owner.dropped / (double)owner.begun, 100 * owner.median);
    if (owner.pairs && isfinite(owner.own))
        str_printf(&text,
                   "; others scored %.1f %% in %lld of those pairs, and it %.1f %% in what it "
                   "reported of the same tests",
                   100 * owner.theirs, (long long)owner.pairs, 100 * owner.own);
    return json_string(text.data);
}

static json_t *evidence_of(Db *db, double since, const SqlLedgerSuspects *row) {
    const struct Kind *kind = kind_of(row->kind);
    json_t *out = json_pack("{s:s, s:I}", "kind", row->kind, "count", (json_int_t)row->count);
    bool compared = row->of > 0;
    json_object_set_new(out, "of", compared ? json_integer(row->of) : json_null());
    json_object_set_new(out, "expected", compared ? json_real(row->expected) : json_null());
    json_object_set_new(out, "text",
                        strcmp(kind->name, "dropped") == 0 ? dropped_text(db, since, row)
                        : compared
                            ? json_sprintf("%lld of %lld %s %s; by its part of the same tests it "
                                           "would be %.1f",
                                           (long long)row->count, (long long)row->of, kind->many,
                                           kind->what, row->expected)
                            : json_sprintf("%lld %s %s", (long long)row->count,
                                           row->count == 1 ? kind->one : kind->many, kind->what));
    return out;
}

static json_t *machine_of(const SqlLedgerSuspects *row) {
    return json_pack("{s:I, s:s, s:s?, s:b, s:[]}", "id", (json_int_t)row->worker_id, "name",
                     row->name, "user", row->user, "blocked", (int)row->blocked, "evidence");
}

json_t *suspects_list(Db *db, double now, int64_t worker) {
    json_t *list = json_array(), *machine = NULL;
    double since = now - SUSPECT_DAYS * DAY_S;
    SqlLedgerSuspectsRows rows scope(sql_rows_end) = sql_ledger_suspects(
        db, .since = since, .worker = worker, .score = SCORE_LEAST, .limit = ROWS_MOST);
    while (sql_ledger_suspects_next(&rows)) {
        if (!machine || member_int(machine, "id") != rows.row.worker_id) {
            if (json_array_size(list) == MACHINES_MOST)
                break;
            json_array_append_new(list, machine = machine_of(&rows.row));
        }
        json_array_append_new(json_object_get(machine, "evidence"),
                              evidence_of(db, since, &rows.row));
    }
    return list;
}

char *suspects_evidence(Db *db, double now, int64_t worker) {
    json_auto_t *list = suspects_list(db, now, worker);
    json_t *item, *evidence = json_object_get(json_array_get(list, 0), "evidence");
    size_t i;
    if (json_array_size(evidence) == 0)
        return xasprintf("It is suspected of nothing");
    Str text scope(str_release);
    str_init(&text, 2048);
    str_puts(&text, "It is suspected of: ");
    json_array_foreach (evidence, i, item)
        str_printf(&text, "%s%s", i ? "; " : "", member_text(item, "text"));
    return xstrdup(text.data);
}
