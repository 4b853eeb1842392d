// See statistics.h.
#include "server/pages/statistics.h"

#include <string.h>

#include "server/common/json_member.h"
#include "server/ledger/count.h"

// Fishtest's colours, and grey.
static const char *color_of(WorkloadMeaning meaning) {
    static const char *const colors[] = {
        [MEANING_NONE] = "",          [MEANING_BETTER] = "green", [MEANING_NOT_WORSE] = "blue",
        [MEANING_UNCLEAR] = "yellow", [MEANING_WORSE] = "red",    [MEANING_UNDECIDED] = "grey"};
    return colors[meaning];
}

static json_t *words(const Count *count,
                     void (*write)(const WorkloadTest *, const json_t *, Str *)) {
    Str text scope(str_release);
    str_init(&text, COUNT_SUMMARY_MAX);
    write(&count->test, count->state, &text);
    return json_string(text.data);
}

static json_t *terms(const Count *count) {
    Str text scope(str_release);
    str_init(&text, COUNT_SUMMARY_MAX);
    count->workload->terms(&count->test, &text);
    return json_string(text.data);
}

// A test that this server cannot read has no statistics; the audit names it.
json_t *statistics_document(const json_t *row, double games_per_hour) {
    scope(count_release) Count count = {0};
    Error ignored;
    json_t *out = json_pack("{s:s, s:s}", "text", "", "color", "");
    if (!count_init(&count, member_text(row, "workload"), member_text(row, "parameters"),
                    member_text(row, "counts"), &ignored))
        return out;
    const Workload *workload = count.workload;
    count.test.batch_units = member_int(row, "batch_pairs");
    count.test.units_max = member_int(row, "pairs_max");
    WorkloadFacts facts = {.test = count.test,
                           .state = count.state,
                           .result = member_text(row, "result"),
                           .units = member_int(row, "units_counted"),
                           .games_per_hour = games_per_hour};
    workload->document(&facts, out);
    char *panel scope(free_ptr) = xasprintf("workload_%s", workload->name);
    json_object_set_new(out, "color", json_string(color_of(workload->meaning(&facts))));
    json_object_set_new(out, "units", json_integer(facts.units));
    json_object_set_new(out, "label", json_string(workload->label));
    json_object_set_new(out, "terms", terms(&count));
    json_object_set_new(out, "summary", words(&count, workload->summary));
    json_object_set_new(out, "points", workload->points(&count.test, count.state));
    json_object_set_new(out, "panel", json_string(panel));
    return out;
}
