// See workload_counting.h.
#include "tests/kit/workload_counting.h"

#include <string.h>

#include "server/common/json_member.h"
#include "sql/ledger.h"

CountingEnd counting_end;

static const WorkloadField counting_fields[] = {{.rule = {.name = "first_position",
                                                          .kind = FIELD_WHOLE,
                                                          .change = CHANGE_EARLY,
                                                          .low = 1,
                                                          .high = 1000,
                                                          .fallback = "1"},
                                                 .label = "First position",
                                                 .hint = "The number of the first position."},
                                                {.rule = {.name = "remark",
                                                          .kind = FIELD_CHOICE,
                                                          .change = CHANGE_FREELY,
                                                          .fallback = "none",
                                                          .choices = "none|done"},
                                                 .label = "Remark",
                                                 .hint = "It is only shown."},
                                                {.rule = {.name = NULL}}};

static bool counting_agree(const json_t *fields, Error *err) {
    (void)fields;
    (void)err;
    return true;
}

static json_t *counting_told(const WorkloadTest *test, const json_t *state, int64_t first_unit,
                             int64_t units) {
    json_t *numbers = json_array();
    for (int64_t unit = first_unit; unit < first_unit + units; unit++)
        json_array_append_new(numbers,
                              json_integer(member_int(test->parameters, "first_position") + unit));
    return json_pack("{s:I, s:o, s:I}", "first_unit", (json_int_t)first_unit, "numbers", numbers,
                     "nodes", (json_int_t)member_int(state, "nodes"));
}

static bool counting_check(const WorkloadDealt *dealt, const json_t *result, Error *err) {
    const json_t *nodes = json_object_get(result, "nodes"),
                 *numbers = json_object_get(dealt->told, "numbers");
    size_t skipped = (size_t)(dealt->first_unit - member_int(dealt->told, "first_unit"));
    if (!json_is_array(nodes) || json_object_size(result) != 1)
        return error_field(err, 422, "bad_request", "result", "a result has nodes");
    if ((int64_t)json_array_size(nodes) != dealt->units)
        return error_field(err, 422, "bad_counts", "nodes", "%zu numbers, should be %lld",
                           json_array_size(nodes), (long long)dealt->units);
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        int64_t number = json_integer_value(json_array_get(numbers, skipped + i));
        if (!number || json_integer_value(json_array_get(nodes, i)) < number)
            return error_field(err, 422, "bad_counts", "nodes", "position %lld takes more nodes",
                               (long long)number);
    }
    return true;
}

static void counting_accept(const WorkloadTest *test, const WorkloadBatch *batch, json_t *state) {
    int64_t sum = member_int(state, "nodes");
    json_t *nodes;
    size_t i;
    (void)test;
    json_array_foreach (json_object_get(batch->result, "nodes"), i, nodes)
        sum += json_integer_value(nodes);
    json_object_set_new(state, "nodes", json_integer(sum));
}

static void counting_subtract(const WorkloadTest *test, const json_t *part, json_t *state) {
    (void)test;
    json_object_set_new(state, "nodes",
                        json_integer(member_int(state, "nodes") - member_int(part, "nodes")));
}

static const char *counting_judge(const WorkloadTest *test, const json_t *state, int64_t units) {
    (void)state;
    return units < test->units_max ? NULL : "completed";
}

static json_t *counting_points(const WorkloadTest *test, const json_t *state) {
    (void)test;
    return json_pack("{s:I}", "nodes", (json_int_t)member_int(state, "nodes"));
}

static void counting_terms(const WorkloadTest *test, Str *out) {
    str_printf(out, "from %lld", (long long)member_int(test->parameters, "first_position"));
}

static void counting_summary(const WorkloadTest *test, const json_t *state, Str *out) {
    (void)test;
    if (member_int(state, "nodes"))
        str_printf(out, "%lld nodes", (long long)member_int(state, "nodes"));
}

static double counting_promise(const WorkloadTest *test, const json_t *state) {
    (void)test;
    (void)state;
    return 0;
}

static double counting_false_accept(const WorkloadTest *test) {
    (void)test;
    return 0;
}

static WorkloadMeaning counting_meaning(const WorkloadFacts *facts) {
    (void)facts;
    return MEANING_NONE;
}

static void counting_document(const WorkloadFacts *facts, json_t *out) {
    json_object_set_new(out, "nodes", json_integer(member_int(facts->state, "nodes")));
    json_object_set_new(out, "remark", json_string(member_text(facts->test.parameters, "remark")));
}

static json_t *counting_expected(const WorkloadTest *test, const double even[5]) {
    (void)test;
    (void)even;
    return json_pack("{s:n, s:b, s:[]}", "unit", "assumes", 0, "cases");
}

static bool counting_ended(Turn *turn, int64_t test, const char *result, Error *err) {
    char *state scope(free_ptr) = sql_ledger_test_state(turn->db, test);
    counting_end.calls++;
    counting_end.test = test;
    snprintf(counting_end.result, sizeof counting_end.result, "%s", result);
    snprintf(counting_end.state, sizeof counting_end.state, "%s", state ? state : "");
    return !counting_end.refuses || error_set(err, 500, "refused", "what follows is refused");
}

WORKLOAD_DEFINE(counting, .label = "node counts", .version = 3, .unit = UNIT_OTHER,
                .units_max = 12);
