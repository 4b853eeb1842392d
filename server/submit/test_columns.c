// See test_columns.h.
#include "server/submit/test_columns.h"

#include <string.h>

#include "server/common/json_member.h"
#include "server/common/str.h"
#include "server/ledger/workload.h"
#include "server/submit/fields.h"
#include "sql/tests.h"

const TestColumn test_columns[] = {
    {"id", COLUMN_STATE},
    {"engine_id", COLUMN_APPROVED}, // its name and its recipe for building, too
    {"author_id", COLUMN_SHOWN},
    {"title", COLUMN_SHOWN},
    {"description", COLUMN_SHOWN},
    {"created", COLUMN_STATE},
    {"workload", COLUMN_APPROVED},
    {"parameters", COLUMN_APPROVED}, // those that may change at any time do not count
    {"book_id", COLUMN_APPROVED},    // its content, too
    {"seed", COLUMN_STATE}, // drawn at the first approval: nothing that a person could judge
    {"variant", COLUMN_APPROVED},
    {"adjudication", COLUMN_APPROVED},
    {"batch_pairs", COLUMN_APPROVED},
    {"pairs_max", COLUMN_APPROVED}, // how much of the machines' time the test may take
    {"priority", COLUMN_APPROVED},
    {"state", COLUMN_STATE},
    {"approved_hash", COLUMN_STATE},
    {"approved_by", COLUMN_STATE},
    {"started", COLUMN_STATE},
    {"finished", COLUMN_STATE},
    {"result", COLUMN_STATE},
    {"reason", COLUMN_STATE},
    {"merged_commit", COLUMN_STATE},
    {"merged", COLUMN_STATE},
    {"merged_onto", COLUMN_STATE},
    {"retest_of", COLUMN_SHOWN},
    {"trial_of", COLUMN_SHOWN},
    {"undone", COLUMN_STATE},
    {"resumed", COLUMN_STATE},
    {"harmful", COLUMN_STATE},
    {"games_dropped", COLUMN_STATE},
    {"patch_dropped", COLUMN_STATE},
    {"next_pair", COLUMN_STATE},
    {"units_counted", COLUMN_STATE},
    {"counts", COLUMN_STATE},
    {"points", COLUMN_STATE},
    {"promise", COLUMN_STATE},
    {"positions", COLUMN_STATE},
    {"unsettled", COLUMN_STATE},
    {"units_recorded", COLUMN_STATE},
    {"units_unproven", COLUMN_STATE},
    {"units_author", COLUMN_STATE},
    {0},
};

const TestColumn side_columns[] = {
    {"test_id", COLUMN_STATE},
    {"side", COLUMN_APPROVED},
    {"engine_id", COLUMN_APPROVED}, // its name and its recipe for building, too
    {"sha", COLUMN_APPROVED},       // its snapshot and its net, too
    {"options", COLUMN_APPROVED},
    {"tc", COLUMN_APPROVED},
    {"threads", COLUMN_APPROVED},
    {"margin_ms", COLUMN_APPROVED},
    {"bench_declared", COLUMN_SHOWN},
    {"grounded", COLUMN_STATE}, // whether an approval is enough is asked anew each time
    {0},
};

const TestColumn *test_column(const TestColumn *columns, const char *name) {
    for (const TestColumn *column = columns; column->name; column++)
        if (strcmp(column->name, name) == 0)
            return column;
    return NULL;
}

// ---- rows

static char *adjudication_text(const json_t *fields) {
    json_auto_t *rules = field_adjudication(fields);
    return json_dumps(rules, JSON_COMPACT | JSON_SORT_KEYS);
}

char *test_parameters_text(const json_t *fields) {
    return workload_parameters(workload_named(field_text(fields, "workload")), fields);
}

bool test_write(Turn *turn, int64_t test, TestOrigin origin, const json_t *fields, Error *err) {
    char *adjudication scope(free_ptr) = adjudication_text(fields),
                       *parameters scope(free_ptr) = test_parameters_text(fields);
    return sql_test_write(
        turn->db, err, .test = test ? &test : NULL, .engine = origin.engine, .user = origin.author,
        .now = turn->now, .retest_of = origin.retest_of ? &origin.retest_of : NULL,
        .book_id = origin.book, .adjudication = adjudication, .parameters = parameters,
        .title = field_text(fields, "title"), .description = field_text(fields, "description"),
        .workload = field_text(fields, "workload"), .variant = field_text(fields, "variant"),
        .batch_pairs = field_whole(fields, "batch_pairs"),
        .pairs_max = field_whole(fields, "pairs_max"), .priority = field_whole(fields, "priority"));
}

// ---- the hash of an approval

// An approval covers the parameters of the workload that may not change at any time.
static void keep_covered_parameters(json_t *row) {
    json_t *parameters = json_loads(member_text(row, "parameters"), 0, NULL), *value;
    const char *name;
    void *next;
    json_object_foreach_safe (parameters, next, name, value) {
        const WorkloadField *field = workload_field(name);
        if (field && field->rule.change == CHANGE_FREELY)
            json_object_del(parameters, name);
    }
    json_object_set_new(row, "parameters", parameters);
}

// A column that is in no list stays: rather an approval too many than one too few.
static void drop_what_is_not_covered(json_t *row, const TestColumn *columns) {
    for (const TestColumn *column = columns; column->name; column++)
        if (column->kind != COLUMN_APPROVED)
            json_object_del(row, column->name);
}

bool test_approval_hash(Db *db, int64_t test, char hash[SHA256_HEX_MAX]) {
    json_auto_t *row = sql_test_approval(db, test);
    json_t *sides = sql_sides_approval(db, test), *side;
    size_t i;
    json_object_set_new(row, "sides", sides);
    if (!row)
        return false;
    json_array_foreach (sides, i, side)
        drop_what_is_not_covered(side, side_columns);
    drop_what_is_not_covered(row, test_columns);
    keep_covered_parameters(row);
    char *text scope(free_ptr) =
        json_dumps(row, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    sha256_hex(text, strlen(text), hash);
    return true;
}
