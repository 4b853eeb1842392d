// See count.h.
#include "server/ledger/count.h"

#include <math.h>
#include <string.h>

#include "server/common/batch_signature.h"
#include "server/common/json_member.h"

static void set_version(Count *count) {
    json_object_set_new(count->state, "v", json_integer(count->workload->version));
}

bool count_init(Count *count, const char *workload, const char *parameters, const char *state,
                Error *err) {
    *count = (Count){.workload = workload_named(workload),
                     .parameters = json_loads(parameters, 0, NULL),
                     .state = json_loads(state, 0, NULL)};
    count->test.parameters = count->parameters;
    if (!count->workload || !json_is_object(count->parameters) || !json_is_object(count->state))
        return error_set(err, 500, "database",
                         "this server has no workload %.40s, or cannot read what was counted",
                         workload);
    if (json_object_size(count->state) == 0)
        set_version(count);
    return member_int(count->state, "v") == count->workload->version ||
           error_set(err, 500, "database", "the results were counted by another version");
}

void count_release(Count *count) {
    json_decref(count->parameters);
    json_decref(count->state);
    count->parameters = count->state = NULL;
}

void count_restart(Count *count) {
    json_object_clear(count->state);
    set_version(count);
    count->units = count->author_units = 0;
    count->counted = (Shares){0};
}

static bool is_author(const Count *count, const char *owner) {
    char author[32];
    snprintf(author, sizeof author, "user %lld", (long long)count->author);
    return strcmp(author, owner) == 0;
}

void count_add(Count *count, const WorkloadBatch *batch) {
    count->workload->accept(&count->test, batch, count->state);
    count->units += batch->units;
    count->counted.of[batch->level] += batch->units;
    count->author_units += is_author(count, batch->owner) ? batch->units : 0;
}

const char *count_judge(const Count *count, bool spent) {
    int64_t units = spent ? count->test.units_max : count->units;
    const char *result = count->workload->judge(&count->test, count->state, units);
    if (!result || shares_hold(&count->counted))
        return result;
    bool is_verdict = strcmp(result, "accepted") == 0 || strcmp(result, "rejected") == 0;
    return units < count->test.units_max ? NULL : is_verdict ? "undecided" : result;
}

char *count_text(const json_t *value) {
    return signed_json(value);
}

char *count_state_text(const Count *count) {
    return count_text(count->state);
}

char *count_points_text(const Count *count) {
    json_auto_t *points = count->workload->points(&count->test, count->state);
    return count_text(points);
}

void count_summary(const Count *count, char out[COUNT_SUMMARY_MAX]) {
    Str text scope(str_release);
    str_init(&text, COUNT_SUMMARY_MAX);
    count->workload->summary(&count->test, count->state, &text);
    snprintf(out, COUNT_SUMMARY_MAX, "%s", text.data);
}

bool numbers_equal(double a, double b) {
    return isnan(a) == isnan(b) && !(a < b) && !(a > b);
}
