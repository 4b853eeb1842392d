// The table of workloads. See workload.h.
#include <string.h>

#include "server/ledger/workload.h"

#define WORKLOAD_EXTERN(name) extern const Workload workload_##name;
WORKLOADS(WORKLOAD_EXTERN)

enum { WORKLOADS_MAX = 32 };

#define WORKLOAD_ROW(name) &workload_##name,
static const Workload *workloads[WORKLOADS_MAX] = {WORKLOADS(WORKLOAD_ROW)};

const char *workload_unit_name(WorkloadUnit unit) {
    static const char *const names[UNIT_COUNT] = {[UNIT_PAIR] = "pair", [UNIT_OTHER] = "other"};
    return names[unit];
}

int workload_count(void) {
    int count = 0;
    while (count < WORKLOADS_MAX && workloads[count])
        count++;
    return count;
}

const Workload *workload_at(int index) {
    return workloads[index];
}

const Workload *workload_named(const char *name) {
    for (int i = 0; i < workload_count(); i++)
        if (strcmp(workloads[i]->name, name) == 0)
            return workloads[i];
    return NULL;
}

void workload_add(const Workload *workload) {
    int count = workload_count();
    if (count < WORKLOADS_MAX && !workload_named(workload->name))
        workloads[count] = workload;
}

const WorkloadField *workload_field(const char *name) {
    for (int i = 0; i < workload_count(); i++)
        for (const WorkloadField *field = workloads[i]->fields; field->rule.name; field++)
            if (strcmp(field->rule.name, name) == 0)
                return field;
    return NULL;
}

char *workload_parameters(const Workload *workload, const json_t *fields) {
    json_auto_t *parameters = json_object();
    for (const WorkloadField *field = workload->fields; field->rule.name; field++)
        json_object_set(parameters, field->rule.name, json_object_get(fields, field->rule.name));
    return json_dumps(parameters, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
}
