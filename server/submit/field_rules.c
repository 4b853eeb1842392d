// See field_rules.h.
#include "server/submit/field_rules.h"

#include <string.h>

#include "server/ledger/workload.h"
#include "server/patch/patch.h"

#define WHOLE_MAX 9007199254740991.0 // as far as JSON's numbers are exact

// The fields of every test. Their workload has fields of its own (ledger/workload.h).
static const FieldRule common_rules[] = {
    {.name = "title", .kind = FIELD_LINE, .change = CHANGE_FREELY, .low = 1, .high = 120},
    {.name = "description",
     .kind = FIELD_TEXT,
     .change = CHANGE_FREELY,
     .high = 10000,
     .fallback = ""},
    {.name = "engine", .kind = FIELD_LINE, .change = CHANGE_NEVER, .low = 1, .high = 40},
    {.name = "preset", .kind = FIELD_LINE, .change = CHANGE_NEVER, .low = 1, .high = 60},
    {.name = "patch", .kind = FIELD_TEXT, .change = CHANGE_NEVER, .high = PATCH_BYTES_MAX * 2},
    {.name = "commit", .kind = FIELD_LINE, .change = CHANGE_NEVER, .low = 1, .high = 200},
    {.name = "base",
     .kind = FIELD_LINE,
     .change = CHANGE_NEVER,
     .low = 1,
     .high = 200,
     .fallback = "baseline"},
    {.name = "bench", .kind = FIELD_WHOLE, .change = CHANGE_NEVER, .low = 1, .high = 1e15},
    {.name = "base_bench", .kind = FIELD_WHOLE, .change = CHANGE_NEVER, .low = 1, .high = 1e15},
    {.name = "workload", .kind = FIELD_WORKLOAD, .change = CHANGE_NEVER, .fallback = "sprt"},
    {.name = "tc", .kind = FIELD_TC, .change = CHANGE_EARLY, .fallback = "10+0.1"},
    {.name = "threads",
     .kind = FIELD_WHOLE,
     .change = CHANGE_EARLY,
     .low = 1,
     .high = 1024,
     .fallback = "1"},
    {.name = "new_options",
     .kind = FIELD_OPTIONS,
     .change = CHANGE_EARLY,
     .high = 1000,
     .fallback = "Hash=16"},
    {.name = "base_options",
     .kind = FIELD_OPTIONS,
     .change = CHANGE_EARLY,
     .high = 1000,
     .fallback = "Hash=16"},
    {.name = "book", .kind = FIELD_LINE, .change = CHANGE_UNDEALT, .low = 1, .high = 100},
    {.name = "seed", .kind = FIELD_WHOLE, .change = CHANGE_UNDEALT, .high = WHOLE_MAX},
    {.name = "variant",
     .kind = FIELD_CHOICE,
     .change = CHANGE_UNDEALT,
     .fallback = "standard",
     .choices = "standard|chess960"},
    {.name = "adjudication",
     .kind = FIELD_CHOICE,
     .change = CHANGE_EARLY,
     .fallback = "on",
     .choices = "on|off"},
    {.name = "resign",
     .kind = FIELD_CHOICE,
     .change = CHANGE_EARLY,
     .fallback = "on",
     .choices = "on|off"},
    {.name = "resign_score",
     .kind = FIELD_WHOLE,
     .change = CHANGE_EARLY,
     .low = 1,
     .high = 100000,
     .fallback = "600"},
    {.name = "resign_count",
     .kind = FIELD_WHOLE,
     .change = CHANGE_EARLY,
     .high = 1000,
     .fallback = "3"},
    {.name = "resign_two_sided",
     .kind = FIELD_CHOICE,
     .change = CHANGE_EARLY,
     .fallback = "off",
     .choices = "on|off"},
    {.name = "draw",
     .kind = FIELD_CHOICE,
     .change = CHANGE_EARLY,
     .fallback = "on",
     .choices = "on|off"},
    {.name = "draw_move",
     .kind = FIELD_WHOLE,
     .change = CHANGE_EARLY,
     .high = 1000,
     .fallback = "34"},
    {.name = "draw_score",
     .kind = FIELD_WHOLE,
     .change = CHANGE_EARLY,
     .high = 100000,
     .fallback = "20"},
    {.name = "draw_count",
     .kind = FIELD_WHOLE,
     .change = CHANGE_EARLY,
     .high = 1000,
     .fallback = "8"},
    {.name = "max_moves",
     .kind = FIELD_WHOLE,
     .change = CHANGE_EARLY,
     .high = 5000,
     .fallback = "0"},
    {.name = "batch_pairs", .kind = FIELD_WHOLE, .change = CHANGE_UNDEALT, .low = 1, .high = 1000},
    {.name = "pairs_max", .kind = FIELD_WHOLE, .change = CHANGE_FREELY, .low = 1, .high = 10000000},
    {.name = "games", .kind = FIELD_WHOLE, .change = CHANGE_FREELY, .low = 2, .high = 20000000},
    {.name = "priority",
     .kind = FIELD_WHOLE,
     .change = CHANGE_FREELY,
     .low = -1000,
     .high = 1000,
     .fallback = "0"},
};

enum { COMMON_RULES = sizeof common_rules / sizeof *common_rules };

const FieldRule *submit_rule_at(int index) {
    if (index < COMMON_RULES)
        return &common_rules[index];
    index -= COMMON_RULES;
    for (int w = 0; w < workload_count(); w++)
        for (const WorkloadField *field = workload_at(w)->fields; field->rule.name; field++)
            if (index-- == 0)
                return &field->rule;
    return NULL;
}

const FieldRule *submit_rule(const char *name) {
    const FieldRule *rule;
    for (int i = 0; (rule = submit_rule_at(i)); i++)
        if (strcmp(rule->name, name) == 0)
            return rule;
    return NULL;
}

bool submit_rule_fits(const FieldRule *rule, const char *workload) {
    const Workload *of = workload_named(workload);
    const WorkloadField *field = workload_field(rule->name);
    if (!field || !of)
        return !field;
    for (const WorkloadField *own = of->fields; own->rule.name; own++)
        if (own == field)
            return true;
    return false;
}
