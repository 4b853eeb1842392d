// Reads the evidence of a test into numbers and texts whose bounds are known, so that no later step
// meets one that it cannot stand.
#include <stdlib.h>
#include <string.h>

#include "server/common/batch_signature.h"
#include "server/common/hash.h"
#include "server/common/json_member.h"
#include "server/ledger/replay.h"
#include "server/proof/check.h"

enum { BATCH_PAIRS_MAX = 1000 };
static const int64_t number_limit = 1LL << 40; // of pairs, tasks and machines

static bool refuse(Error *err, const char *what) {
    return error_set(err, 422, "", "%s", what);
}

static bool is_between(double value, double low, double high) {
    return value >= low && value <= high;
}

// ---- the conditions -----------------------------------------------------------------------------

// A parameter that is out of its bounds could not have been submitted.
static bool parameter_is_sound(const FieldRule *rule, const json_t *value) {
    if (rule->kind == FIELD_CHOICE)
        return json_is_string(value) && strstr(rule->choices, json_string_value(value));
    return json_is_number(value) && is_between(json_number_value(value), rule->low, rule->high);
}

static bool load_workload(Check *check, Error *err) {
    const json_t *parameters = json_object_get(check->test, "parameters");
    check->workload = workload_named(member_text(check->test, "workload"));
    if (!check->workload)
        return refuse(err, "this program does not know the workload of the test: use the program "
                           "of the version that wrote the bundle");
    for (const WorkloadField *field = check->workload->fields; field->rule.name; field++)
        if (!parameter_is_sound(&field->rule, json_object_get(parameters, field->rule.name)))
            return error_set(err, 422, "", "the parameter %s of the test is not possible",
                             field->rule.name);
    return check->workload->agree(parameters, err);
}

static bool load_sides(Check *check, Error *err) {
    static const char *const names[2] = {"new", "base"};
    const json_t *side;
    size_t i;
    json_array_foreach (json_object_get(check->evidence->manifest, "sides"), i, side)
        for (int k = 0; k < 2; k++)
            if (strcmp(member_text(side, "side"), names[k]) == 0)
                check->sides[k] =
                    (CheckedSide){member_text(side, "tc"), member_int(side, "margin_ms")};
    for (int k = 0; k < 2; k++) {
        TimeControl tc;
        if (!check->sides[k].tc || !tc_parse(check->sides[k].tc, &tc, err) ||
            !is_between((double)check->sides[k].margin_ms, 0, 250))
            return refuse(err, "the clock of a side cannot be read");
    }
    return true;
}

static bool load_conditions(Check *check, Error *err) {
    const json_t *test = check->test;
    char *rules scope(free_ptr) = json_dumps(json_object_get(test, "adjudication"), 0);
    check->batch_pairs = member_int(test, "batch_pairs");
    check->scale = (ClockScale){.min = json_number_value(json_object_get(test, "scale_min")),
                                .max = json_number_value(json_object_get(test, "scale_max"))};
    if (!is_between((double)check->batch_pairs, 1, BATCH_PAIRS_MAX) ||
        !is_between((double)member_int(test, "pairs_max"), 1, (double)number_limit) ||
        !is_between((double)member_int(test, "next_pair"), 0, (double)number_limit) ||
        !is_between(check->scale.min, 1e-4, 1e4) || !is_between(check->scale.max, 1e-4, 1e4))
        return refuse(err, "a number of the test's conditions is not possible");
    if (!rules || !replay_rules(rules, &check->rules))
        return refuse(err, "the rules of adjudication cannot be read");
    if (!hex_is(member_text(test, "installation"), INSTALLATION_HEX))
        return refuse(err, "the name of the installation cannot be read");
    return load_workload(check, err) && load_sides(check, err);
}

// ---- the log ------------------------------------------------------------------------------------

static bool batch_is_sound(const Check *check, const CheckedBatch *b) {
    return json_is_object(b->result) && json_is_object(b->told) && b->units == check->batch_pairs &&
           is_between((double)b->position, 0, (double)number_limit) &&
           is_between((double)b->task, 1, (double)number_limit) &&
           is_between((double)b->seq, 0, (double)number_limit) &&
           is_between((double)b->first_pair, 0, (double)number_limit) &&
           b->first_pair % check->batch_pairs == 0 && is_between((double)b->thought, 0, 4e16) &&
           is_between((double)b->level, LEVEL_UNPROVEN, LEVEL_VOUCHED) &&
           is_between(b->speed, 1, 1e11) && is_between(b->reference_speed, 1, 1e12) &&
           (!b->games || sha256_is_hex(b->games)) && strlen(b->owner) < 200 &&
           strlen(b->tc) < TC_TEXT_MAX;
}

static CheckedBatch read_batch(const json_t *row) {
    return (CheckedBatch){.position = member_int(row, "position"),
                          .task = member_int(row, "task"),
                          .seq = member_int(row, "seq"),
                          .first_pair = member_int(row, "first_pair"),
                          .units = member_int(row, "units"),
                          .machine = member_int(row, "machine"),
                          .level = member_int(row, "level"),
                          .thought = member_int(row, "thought"),
                          .owner = member_text(row, "owner"),
                          .key = member_text(row, "key"),
                          .signature = member_text(row, "signature"),
                          .games = json_string_value(json_object_get(row, "games")),
                          .tc = member_text(row, "tc"),
                          .flags = member_text(row, "flags"),
                          .result = json_object_get(row, "result"),
                          .told = json_object_get(row, "told"),
                          .speed = json_number_value(json_object_get(row, "speed")),
                          .reference_speed =
                              json_number_value(json_object_get(row, "reference_speed")),
                          .received = json_number_value(json_object_get(row, "received"))};
}

static bool is_possible(const Check *check, const CheckedBatch *b) {
    WorkloadDealt dealt = {.told = b->told, .first_unit = b->first_pair, .units = b->units};
    Error ignored; // check_games() says it
    return check->workload->check(&dealt, b->result, &ignored);
}

// As `covers` of sql/schema.sql.
static bool covers(const json_t *x, const CheckedBatch *b) {
    const char *kind = member_text(x, "kind");
    if (!json_is_null(json_object_get(x, "undone")) ||
        (strcmp(member_text(x, "which"), "all") != 0 && !*b->flags))
        return false;
    if (strcmp(kind, "task") == 0)
        return b->task == member_int(x, "task");
    if (strcmp(kind, "machine") == 0)
        return b->machine == member_int(x, "machine");
    if (strcmp(kind, "owner") == 0)
        return strcmp(b->owner, member_text(x, "owner")) == 0;
    return b->received >= json_number_value(json_object_get(x, "since")) &&
           b->received < json_number_value(json_object_get(x, "until"));
}

static bool load_batches(Check *check, Error *err) {
    const json_t *exclusions = json_object_get(check->evidence->manifest, "exclusions"), *row, *x;
    size_t i, j;
    check->batches = xcalloc(json_array_size(check->evidence->batches) + 1, sizeof(CheckedBatch));
    json_array_foreach (check->evidence->batches, i, row) {
        CheckedBatch *b = &check->batches[check->count++];
        *b = read_batch(row);
        if (!batch_is_sound(check, b))
            return error_set(err, 422, "", "batch %zu of the log cannot be read", i + 1);
        b->possible = is_possible(check, b);
        json_array_foreach (exclusions, j, x)
            b->excluded |= covers(x, b);
    }
    return true;
}

bool check_load(Check *check, Error *err) {
    check->test = json_object_get(check->evidence->manifest, "test");
    check->book = book_new(check->evidence->book, check->evidence->book_size);
    return load_conditions(check, err) && load_batches(check, err);
}

void check_release(Check *check) {
    free(check->batches);
    book_free(&check->book);
}
