// What an approval covers: server/submit/test_columns.c beside the schema.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/submit/fields.h"
#include "server/submit/test_columns.h"
#include "tests/kit/submit_kit.h"
#include "tests/kit/workload_counting.h"

static void compare_with_schema(SubmitKit *kit, const char *table, const TestColumn *columns) {
    int64_t count = kit_int(&kit->ledger, "SELECT count(*) FROM pragma_table_info('%s')", table);
    for (int64_t i = 0; i < count; i++) {
        char *name scope(free_ptr) = kit_text(
            &kit->ledger, "SELECT name FROM pragma_table_info('%s') WHERE cid = %d", table, (int)i);
        if (!test_column(columns, name))
            fail_msg("the column %s of %s is not in server/submit/test_columns.c: say there "
                     "whether an approval covers it (COLUMN_APPROVED), it is for people "
                     "(COLUMN_SHOWN), or it is what became of the test (COLUMN_STATE)",
                     name, table);
    }
    for (const TestColumn *column = columns; column->name; column++, count--)
        if (!kit_int(&kit->ledger, "SELECT count(*) FROM pragma_table_info('%s') WHERE name = '%s'",
                     table, column->name))
            fail_msg("server/submit/test_columns.c has %s, which is no column of %s", column->name,
                     table);
    if (count)
        fail_msg("server/submit/test_columns.c has a column of %s twice", table);
}

static void every_column_of_the_schema_is_in_the_table_and_nothing_else(void **state) {
    compare_with_schema(*state, "tests", test_columns);
    compare_with_schema(*state, "sides", side_columns);
}

// Gives the column of test 1, or of its side 'new', another value than it has.
static void change(SubmitKit *kit, const char *table, const char *name) {
    static const struct {
        const char *name, *value;
    } values[] = {{"engine_id", "2"},
                  {"side", "'other'"},
                  {"sha", "(SELECT baseline FROM engines WHERE id = 1)"},
                  {"workload", "'fixed'"},
                  {"parameters", "json_set(parameters, '$.model', 'logistic')"},
                  {"variant", "'chess960'"},
                  {"adjudication", "'{\"max_moves\":9}'"},
                  {"book_id", "2"}};
    const char *value = NULL, *which = strcmp(table, "sides") == 0 ? "WHERE side <> 'base'" : "";
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(values[i].name, name) == 0)
            value = values[i].value;
    if (value)
        kit_sql(&kit->ledger, "UPDATE %s SET %s = %s %s", table, name, value, which);
    else
        kit_sql(&kit->ledger,
                "UPDATE %s SET %s = iif(typeof(%s) = 'text', %s || ' x', %s + 0.001 * "
                "(typeof(%s) = 'real') + (typeof(%s) <> 'real')) %s",
                table, name, name, name, name, name, name, which);
}

static void check_hash_of_columns(SubmitKit *kit, const char *table, const TestColumn *columns) {
    char before[SHA256_HEX_MAX], after[SHA256_HEX_MAX];
    for (const TestColumn *column = columns; column->name; column++) {
        if (column->kind != COLUMN_APPROVED)
            continue;
        assert_true(test_approval_hash(kit->ledger.db, 1, before));
        change(kit, table, column->name);
        assert_true(test_approval_hash(kit->ledger.db, 1, after));
        if (strcmp(before, after) == 0)
            fail_msg("%s of %s changed, and the hash did not", column->name, table);
    }
}

static void a_change_of_a_column_that_is_covered_changes_the_hash(void **state) {
    SubmitKit *kit = *state;
    kit_sql(&kit->ledger, "INSERT INTO engines (id, name, title, baseline, build, "
                          "reference_commit, reference_speed, created) "
                          "SELECT 2, 'other', title, baseline, build, baseline, 1, 1 FROM engines");
    kit_sql(&kit->ledger, "INSERT INTO commits (engine_id, sha, snapshot, subject, author, "
                          "created) SELECT 2, sha, snapshot, '', '', 1 FROM commits");
    kit_sql(&kit->ledger, "INSERT INTO books (id, engine_id, name, blob, format, openings, "
                          "created) SELECT 2, 1, 'b', blob, 'epd', 9, 1 FROM books");
    check_hash_of_columns(kit, "tests", test_columns);
    check_hash_of_columns(kit, "sides", side_columns);
}

// Gives test 1 a workload, with the value `text` (SQL) in one of its parameters.
static void set_parameter(SubmitKit *kit, const Workload *workload, const char *name,
                          const char *text) {
    json_auto_t *fields = json_pack("{s:s}", "workload", workload->name);
    submit_fields_complete(fields);
    char *parameters scope(free_ptr) = test_parameters_text(fields);
    kit_sql(&kit->ledger,
            "UPDATE tests SET workload = '%s', parameters = json_set('%s', '$.%s', %s) "
            "WHERE id = 1",
            workload->name, parameters, name, text);
}

static void a_change_of_a_parameter_changes_the_hash_unless_it_may_change_freely(void **state) {
    SubmitKit *kit = *state;
    int freely = 0, covered = 0;
    for (int i = 0; i < workload_count(); i++)
        for (const WorkloadField *field = workload_at(i)->fields; field->rule.name; field++) {
            char before[SHA256_HEX_MAX], after[SHA256_HEX_MAX];
            bool is_free = field->rule.change == CHANGE_FREELY;
            set_parameter(kit, workload_at(i), field->rule.name, "'one'");
            assert_true(test_approval_hash(kit->ledger.db, 1, before));
            set_parameter(kit, workload_at(i), field->rule.name, "'two'");
            assert_true(test_approval_hash(kit->ledger.db, 1, after));
            if ((strcmp(before, after) == 0) != is_free)
                fail_msg("%s of %s: the hash %s", field->rule.name, workload_at(i)->name,
                         is_free ? "changed" : "did not change");
            freely += is_free;
            covered += !is_free;
        }
    assert_true(freely > 0 && covered > 6);
}

static void what_is_shown_or_became_of_a_test_is_not_in_the_hash(void **state) {
    SubmitKit *kit = *state;
    char before[SHA256_HEX_MAX], after[SHA256_HEX_MAX];
    assert_true(test_approval_hash(kit->ledger.db, 1, before));
    kit_sql(&kit->ledger, "UPDATE tests SET title = 'other', description = 'x', next_pair = 8, "
                          "units_counted = 4, counts = '{\"v\":1}', points = '{\"llr\":1}', "
                          "promise = 1, positions = 1, seed = 99, reason = 'r'");
    kit_sql(&kit->ledger, "UPDATE sides SET bench_declared = 5, grounded = 0");
    assert_true(test_approval_hash(kit->ledger.db, 1, after));
    assert_string_equal(before, after);
}

static void what_the_columns_refer_to_is_in_the_hash(void **state) {
    SubmitKit *kit = *state;
    static const char *const changes[] = {
        "UPDATE engines SET build = '{}'",
        "UPDATE commits SET files = '[{}]' WHERE sha IN (SELECT sha FROM sides WHERE side = 'new')",
        "UPDATE commits SET snapshot = (SELECT max(sha256) FROM blobs)",
        "UPDATE books SET blob = (SELECT max(sha256) FROM blobs)",
    };
    char before[SHA256_HEX_MAX], after[SHA256_HEX_MAX];
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        assert_true(test_approval_hash(kit->ledger.db, 1, before));
        kit_sql(&kit->ledger, "%s", changes[i]);
        assert_true(test_approval_hash(kit->ledger.db, 1, after));
        assert_string_not_equal(before, after);
    }
    assert_false(test_approval_hash(kit->ledger.db, 2, after));
}

// A field that decides what runs takes approval back when it changes, and is covered by it.
static void fields_and_columns_say_the_same_of_an_approval(void **state) {
    (void)state;
    const FieldRule *rule;
    for (int i = 0; (rule = submit_rule_at(i)); i++) {
        const TestColumn *column = test_column(test_columns, rule->name);
        if (!column)
            column = test_column(side_columns, rule->name);
        if (column && (rule->change == CHANGE_EARLY || rule->change == CHANGE_UNDEALT))
            assert_int_equal(column->kind, COLUMN_APPROVED);
        if (column && column->kind == COLUMN_STATE)
            fail_msg("people fill in %s, which is a state", rule->name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_column_of_the_schema_is_in_the_table_and_nothing_else,
                                        submit_kit_set_up, submit_kit_tear_down),
        cmocka_unit_test_setup_teardown(a_change_of_a_column_that_is_covered_changes_the_hash,
                                        submit_kit_set_up, submit_kit_tear_down),
        cmocka_unit_test_setup_teardown(
            a_change_of_a_parameter_changes_the_hash_unless_it_may_change_freely, submit_kit_set_up,
            submit_kit_tear_down),
        cmocka_unit_test_setup_teardown(what_is_shown_or_became_of_a_test_is_not_in_the_hash,
                                        submit_kit_set_up, submit_kit_tear_down),
        cmocka_unit_test_setup_teardown(what_the_columns_refer_to_is_in_the_hash, submit_kit_set_up,
                                        submit_kit_tear_down),
        cmocka_unit_test(fields_and_columns_say_the_same_of_an_approval),
    };
    workload_add(&workload_counting); // one of its parameters may change at any time
    return cmocka_run_group_tests_name("submit_columns", tests, NULL, NULL);
}
