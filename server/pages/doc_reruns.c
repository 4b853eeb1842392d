// See doc_reruns.h.
#include "server/pages/doc_reruns.h"

#include <string.h>

#include "server/common/json_member.h"
#include "server/common/str.h"
#include "sql/pages.h"

static json_t *difference_text(const json_t *row) {
    const char *state = member_text(row, "state"), *first = member_text(row, "worker_name"),
               *second = member_text(row, "second_name"), *class = member_text(row, "class"),
               *other = member_text(row, "second_class"),
               *difference = member_text(row, "difference");
    long long pair = member_int(row, "first_pair");
    if (strcmp(state, "third") == 0)
        return json_sprintf(
            "The games from pair %lld differ between %s (%s) and %s (%s): %s. A third "
            "machine like the first has not settled it yet.",
            pair, first, class, second, other, difference);
    if (strcmp(state, "first") == 0 || strcmp(state, "second") == 0)
        return json_sprintf(
            "The games from pair %lld differ between %s and %s: %s. A third machine "
            "agreed with %s, so %s is alone.",
            pair, first, second, difference, *state == 'f' ? second : first,
            *state == 'f' ? first : second);
    if (strcmp(class, other) != 0)
        return json_sprintf(
            "The games from pair %lld differ between machines of two classes, %s and "
            "%s: %s. Look at the patch: it plays otherwise there.",
            pair, class, other, difference);
    return json_sprintf(
        "Three machines of one class (%s) played other games from pair %lld: %s. Look "
        "at the patch: its games should repeat, and do not.",
        class, pair, difference);
}

static json_t *differences_of(const DocContext *ctx, int64_t test) {
    json_t *rows = sql_page_rerun_differences(ctx->db, test), *row;
    size_t i;
    json_array_foreach (rows, i, row) {
        json_object_set_new(row, "text", difference_text(row));
        json_object_del(row, "class");
        json_object_del(row, "second_class");
    }
    return rows;
}

static json_t *summary(const SqlPageReruns *row) {
    long long played = row->same + row->third + row->wrong + row->patch;
    if (played == 0 && row->machines <= 1)
        return json_string(
            "At fixed nodes, some games are played again on other machines. Only one "
            "machine has played this test, so none was.");
    return json_sprintf(
        "At fixed nodes, some games are played again on other machines. Batches played "
        "again: %lld, with the same games: %lld, waiting: %lld.",
        played, (long long)row->same, (long long)row->due);
}

void doc_add_reruns(const DocContext *ctx, int64_t test, json_t *out) {
    SqlPageReruns row = {0};
    bool repeats = sql_page_reruns(ctx->db, &row, test) && row.repeats;
    json_t *differences = repeats ? differences_of(ctx, test) : json_array();
    size_t count = json_array_size(differences);
    const char *first = member_text(json_array_get(differences, 0), "text");
    json_object_set_new(out, "rerun_warning",
                        count == 0 ? json_null()
                        : count == 1
                            ? json_string(first)
                            : json_sprintf("%lld batches differ when they are played again. "
                                           "The newest: %s",
                                           (long long)(row.third + row.wrong + row.patch), first));
    if (repeats)
        json_object_set_new(out, "reruns",
                            json_pack("{s:I, s:I, s:o, s:o}", "same", (json_int_t)row.same, "due",
                                      (json_int_t)row.due, "text", summary(&row), "differences",
                                      differences));
    else
        json_object_set_new(out, "reruns", json_null()), json_decref(differences);
}
