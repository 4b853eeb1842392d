// See policy.h.
#include "server/submit/policy.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/common/str.h"
#include "server/submit/fields.h"
#include "sql/merges.h"
#include "sql/tests.h"

static const char of_private[] = "{\"stages\":[{}],\"owners\":0,\"untested\":10}";
static const char of_public[] =
    "{\"stages\":[{\"preset\":\"STC\"},{\"preset\":\"LTC\"}],\"owners\":2,\"untested\":10}";

// The conditions of a stage, and how an accepted test meets each.
static const struct Condition {
    const char *name;
    enum { IS, AT_MOST, AT_LEAST } how;
    const char *words;
} conditions[] = {
    {"workload", IS, ""},
    {"model", IS, ""},
    {"elo0", IS, "elo0 "},
    {"elo1", IS, "elo1 "},
    {"tc", IS, ""},
    {"threads", IS, "threads "},
    {"alpha", AT_MOST, "alpha at most "},
    {"beta", AT_MOST, "beta at most "},
    {"games", AT_LEAST, "a cap of at least "},
};
enum { CONDITIONS = sizeof conditions / sizeof *conditions };

// ---- reading ------------------------------------------------------------------------------------

json_t *policy_of_engine(Db *db, int64_t engine) {
    SqlMergePolicy row scope(sql_row_free) = {0};
    bool there = sql_merge_policy(db, &row, engine);
    json_t *own = there && *row.policy ? json_loads(row.policy, 0, NULL) : NULL;
    bool is_public = there && strcmp(row.trust, "public") == 0;
    json_t *usual = json_loads(is_public ? of_public : of_private, 0, NULL);
    if (!own)
        return usual;
    json_object_update_missing(own, usual);
    json_decref(usual);
    return own;
}

int policy_untested(Db *db, int64_t engine) {
    json_auto_t *policy = policy_of_engine(db, engine);
    return (int)member_int(policy, "untested");
}

// The conditions of a stage as numbers and words; NULL: its preset is gone. New.
static json_t *stage_conditions(Db *db, int64_t engine, const json_t *stage) {
    const char *name = member_text(stage, "preset");
    json_auto_t *out = json_object();
    Error ignored;
    if (*name) {
        json_auto_t *row = sql_preset_by_name(db, .engine = engine, .name = name);
        json_auto_t *fields = submit_fields_of_json(json_object_get(row, "fields"), &ignored);
        if (!row || !fields || !submit_fields_check(fields, &ignored))
            return NULL;
        for (int i = 0; i < CONDITIONS; i++)
            if (json_object_get(fields, conditions[i].name))
                json_object_set(out, conditions[i].name,
                                json_object_get(fields, conditions[i].name));
    }
    for (int i = 0; i < CONDITIONS; i++)
        if (json_object_get(stage, conditions[i].name))
            json_object_set(out, conditions[i].name, json_object_get(stage, conditions[i].name));
    return json_incref(out);
}

// ---- comparing ----------------------------------------------------------------------------------

// An accepted test as the conditions name its values. New.
static json_t *values_of(const SqlMergeAccepted *test) {
    json_t *out = json_loads(test->parameters, 0, NULL);
    json_object_set_new(out, "workload", json_string(test->workload));
    json_object_set_new(out, "tc", json_string(test->tc));
    json_object_set_new(out, "threads", json_integer(test->threads));
    json_object_set_new(out, "games", json_integer(2 * test->pairs_max));
    return out;
}

static bool meets_one(const struct Condition *condition, const json_t *wanted,
                      const json_t *value) {
    if (!value)
        return false;
    if (json_is_string(wanted))
        return json_equal(wanted, value);
    double want = json_number_value(wanted), have = json_number_value(value);
    return condition->how == IS        ? want == have
           : condition->how == AT_MOST ? have <= want
                                       : have >= want;
}

static bool meets(const json_t *wanted, const SqlMergeAccepted *test, int64_t owners) {
    json_auto_t *values = values_of(test);
    for (int i = 0; i < CONDITIONS; i++) {
        const json_t *want = json_object_get(wanted, conditions[i].name);
        if (want && !meets_one(&conditions[i], want, json_object_get(values, conditions[i].name)))
            return false;
    }
    return test->vouched >= owners;
}

// ---- words --------------------------------------------------------------------------------------

static void add_value(Str *out, const json_t *value) {
    if (json_is_string(value))
        str_puts(out, json_string_value(value));
    else
        str_printf(out, "%g", json_number_value(value));
}

// "STC: sprt, normalized, elo0 0, elo1 2, 10+0.1".
static void add_stage(Str *out, const json_t *stage, const json_t *wanted) {
    const char *name = member_text(stage, "preset"), *between = "";
    str_printf(out, "%s%s", *name ? name : "any accepted test",
               json_object_size(wanted) ? ": " : "");
    for (int i = 0; i < CONDITIONS; i++) {
        const json_t *want = json_object_get(wanted, conditions[i].name);
        if (!want)
            continue;
        str_printf(out, "%s%s", between, conditions[i].words);
        add_value(out, want);
        between = ", ";
    }
}

static void add_owners(Str *out, int64_t owners) {
    if (owners > 0)
        str_printf(out, ", played by machines of at least %lld vouched owner%s", (long long)owners,
                   owners == 1 ? "" : "s");
}

json_t *policy_words(Db *db, int64_t engine) {
    json_auto_t *policy = policy_of_engine(db, engine);
    const json_t *stages = json_object_get(policy, "stages"), *stage;
    json_t *out = json_array();
    size_t i;
    json_array_foreach (stages, i, stage) {
        json_auto_t *wanted = stage_conditions(db, engine, stage);
        Str text scope(str_release);
        str_init(&text, 2000);
        add_stage(&text, stage, wanted);
        if (!wanted)
            str_puts(&text, " (no such preset)");
        add_owners(&text, member_int(policy, "owners"));
        json_array_append_new(out, json_stringn(text.data, text.size));
    }
    return out;
}

// ---- what is missing ----------------------------------------------------------------------------

static bool is_met(Db *db, int64_t test, const json_t *wanted, int64_t owners) {
    SqlMergeAcceptedRows rows scope(sql_rows_end) = sql_merge_accepted(db, test);
    while (sql_merge_accepted_next(&rows))
        if (meets(wanted, &rows.row, owners))
            return true;
    return false;
}

static json_t *missing_stage(const json_t *stage, const json_t *wanted, int64_t owners) {
    Str text scope(str_release);
    str_init(&text, 2000);
    if (!wanted) {
        str_printf(&text,
                   "the policy of this engine asks for the preset '%.60s', which it no longer has; "
                   "the operator gives it another policy with `server engine policy`",
                   member_text(stage, "preset"));
    } else {
        str_puts(&text, "an accepted test of the same trees by ");
        add_stage(&text, stage, wanted);
        add_owners(&text, owners);
    }
    return json_stringn(text.data, text.size);
}

// What was merged and taken back needs another look: a test of it on the baseline of today.
static void add_undone(Db *db, int64_t test, json_t *out) {
    int64_t undone = sql_merge_undone_alike(db, 0, test);
    char *text scope(free_ptr) =
        xasprintf("a new test on the present baseline, because the merge of test %lld, of the same "
                  "trees, was undone",
                  (long long)undone);
    if (undone)
        json_array_append_new(out, json_string(text));
}

json_t *policy_missing(Db *db, int64_t engine, int64_t test) {
    json_auto_t *policy = policy_of_engine(db, engine);
    const json_t *stage;
    int64_t owners = member_int(policy, "owners");
    json_t *out = json_array();
    size_t i;
    add_undone(db, test, out);
    json_array_foreach (json_object_get(policy, "stages"), i, stage) {
        json_auto_t *wanted = stage_conditions(db, engine, stage);
        if (!wanted || !is_met(db, test, wanted, owners))
            json_array_append_new(out, missing_stage(stage, wanted, owners));
    }
    return out;
}

// ---- a new policy -------------------------------------------------------------------------------

static bool whole_is(const json_t *policy, const char *name, int64_t most, Error *err) {
    const json_t *value = json_object_get(policy, name);
    bool fits = !value || (json_is_integer(value) && json_integer_value(value) >= 0 &&
                           json_integer_value(value) <= most);
    return fits ||
           error_field(err, 422, "bad_field", name, "policy: %s is a whole number from 0 to %lld",
                       name, (long long)most);
}

static const struct Condition *condition_named(const char *name) {
    for (int i = 0; i < CONDITIONS; i++)
        if (strcmp(conditions[i].name, name) == 0)
            return &conditions[i];
    return NULL;
}

static bool stage_is_known(const json_t *stage, size_t number, Error *err) {
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)stage, name, value) {
        const struct Condition *condition = condition_named(name);
        bool is_text = !condition || condition->how == IS;
        if (!condition && strcmp(name, "preset") != 0)
            return error_field(err, 422, "bad_field", "stages",
                               "policy: stage %zu has '%.40s', which is no condition", number,
                               name);
        if (!json_is_number(value) && !(is_text && json_is_string(value)))
            return error_field(err, 422, "bad_field", "stages",
                               "policy: '%.40s' of stage %zu is not a number%s", name, number,
                               is_text ? " or a text" : "");
    }
    return true;
}

static bool stage_is_good(Db *db, int64_t engine, const json_t *stage, size_t number, Error *err) {
    if (!json_is_object(stage))
        return error_field(err, 422, "bad_field", "stages", "policy: stage %zu is not an object",
                           number);
    if (!stage_is_known(stage, number, err))
        return false;
    json_auto_t *wanted = stage_conditions(db, engine, stage);
    return wanted ||
           error_field(err, 422, "no_such_preset", "stages",
                       "policy: the engine has no preset '%.60s'", member_text(stage, "preset"));
}

static bool policy_is_good(Db *db, int64_t engine, const json_t *policy, Error *err) {
    static const char *const members[] = {"stages", "owners", "untested"};
    const json_t *stages = json_object_get(policy, "stages"), *stage;
    size_t known = 0, i;
    for (i = 0; i < sizeof members / sizeof *members; i++)
        known += json_object_get(policy, members[i]) != NULL;
    if (!json_is_object(policy) || known != json_object_size(policy))
        return error_set(err, 422, "bad_field",
                         "policy: a JSON object with stages, owners and untested, and no other "
                         "member");
    if (stages && (!json_is_array(stages) || json_array_size(stages) > POLICY_STAGES_MAX))
        return error_field(err, 422, "bad_field", "stages",
                           "policy: stages is a list of at most %d stages", POLICY_STAGES_MAX);
    json_array_foreach (stages, i, stage)
        if (!stage_is_good(db, engine, stage, i + 1, err))
            return false;
    return whole_is(policy, "owners", POLICY_OWNERS_MAX, err) &&
           whole_is(policy, "untested", POLICY_UNTESTED_MAX, err);
}

bool policy_set(Db *db, int64_t engine, const char *text, Error *err) {
    json_error_t where;
    if (strlen(text) > POLICY_BYTES_MAX)
        return error_set(err, 422, "bad_field", "policy: longer than %d bytes", POLICY_BYTES_MAX);
    json_auto_t *policy = *text ? json_loads(text, JSON_REJECT_DUPLICATES, &where) : NULL;
    if (*text && !policy)
        return error_set(err, 422, "bad_field", "policy: not JSON: %s, at byte %d", where.text,
                         where.position);
    if (policy && !policy_is_good(db, engine, policy, err))
        return false;
    char *compact scope(free_ptr) = policy ? json_dumps(policy, JSON_COMPACT) : xstrdup("");
    return sql_merge_policy_set(db, err, .engine = engine, .policy = compact);
}
