// What the fields of a test say together: defaults that follow from other fields, and
// contradictions.
#include <math.h>
#include <string.h>

#include "server/common/time_control.h"
#include "server/ledger/workload.h"
#include "server/submit/fields.h"

static void set_whole(json_t *fields, const char *name, int64_t value) {
    json_object_set_new(fields, name, json_integer(value));
}

static bool is_absent(const json_t *fields, const char *name) {
    return !json_object_get(fields, name);
}

void submit_set_pairs(json_t *fields, int64_t pairs, int64_t batch) {
    set_whole(fields, "pairs_max", (pairs + batch - 1) / batch * batch);
}

static void complete_pairs(json_t *fields) {
    TimeControl tc;
    Error ignored;
    const Workload *workload = workload_named(field_text(fields, "workload"));
    if (is_absent(fields, "batch_pairs") && tc_parse(field_text(fields, "tc"), &tc, &ignored))
        set_whole(fields, "batch_pairs", tc_batch_pairs(&tc, (int)field_whole(fields, "threads")));
    int64_t pairs = workload ? workload->units_max : 1;
    if (!is_absent(fields, "pairs_max"))
        pairs = field_whole(fields, "pairs_max");
    else if (!is_absent(fields, "games"))
        pairs = (field_whole(fields, "games") + 1) / 2;
    submit_set_pairs(fields, pairs, field_whole(fields, "batch_pairs"));
}

void submit_fields_complete(json_t *fields) {
    const FieldRule *rule;
    for (int i = 0; (rule = submit_rule_at(i)); i++)
        if (!submit_rule_fits(rule, field_text(fields, "workload")))
            json_object_del(fields, rule->name);
        else if (is_absent(fields, rule->name) && rule->fallback)
            json_object_set_new(fields, rule->name, json_string(rule->fallback));
    Error ignored;
    submit_fields_check(fields, &ignored); // a test checks that the defaults are good
    complete_pairs(fields);
}

bool submit_fields_agree(const json_t *fields, Error *err) {
    bool games_too = !is_absent(fields, "games") && !is_absent(fields, "pairs_max");
    if (games_too && field_whole(fields, "pairs_max") < (field_whole(fields, "games") + 1) / 2)
        return error_field(err, 422, "bad_field", "games",
                           "games: say either games or pairs_max, not both");
    const Workload *workload = workload_named(field_text(fields, "workload"));
    return !workload || workload->agree(fields, err);
}

static bool is_on(const json_t *fields, const char *name) {
    return strcmp(field_text(fields, name), "on") == 0;
}

json_t *field_adjudication(const json_t *fields) {
    bool on = is_on(fields, "adjudication");
    bool resign = on && is_on(fields, "resign"), draw = on && is_on(fields, "draw");
    return json_pack("{s:I, s:I, s:b, s:I, s:I, s:I, s:I}", "resign_score",
                     (json_int_t)field_whole(fields, "resign_score"), "resign_count",
                     (json_int_t)(resign ? field_whole(fields, "resign_count") : 0),
                     "resign_two_sided", (int)is_on(fields, "resign_two_sided"), "draw_move",
                     (json_int_t)field_whole(fields, "draw_move"), "draw_score",
                     (json_int_t)field_whole(fields, "draw_score"), "draw_count",
                     (json_int_t)(draw ? field_whole(fields, "draw_count") : 0), "max_moves",
                     (json_int_t)(on ? field_whole(fields, "max_moves") : 0));
}
