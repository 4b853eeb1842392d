// The fields of a test: reading, bounds, defaults, what they say together.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/submit/fields.h"

// Fields from JSON text, checked; NULL with the error.
static json_t *checked(const char *text, Error *err) {
    json_auto_t *object = json_loads(text, 0, NULL);
    assert_non_null(object);
    json_t *fields = submit_fields_of_json(object, err);
    if (fields && submit_fields_check(fields, err))
        return fields;
    json_decref(fields);
    return NULL;
}

static json_t *complete(const char *text) {
    Error err = {0};
    json_t *fields = checked(text, &err);
    if (!fields)
        fail_msg("%s", err.message);
    submit_fields_complete(fields);
    if (!submit_fields_agree(fields, &err))
        fail_msg("%s", err.message);
    return fields;
}

static void every_default_of_the_table_is_within_its_own_bounds(void **state) {
    (void)state;
    Error err;
    json_auto_t *fields = json_object();
    const FieldRule *rule;
    for (int i = 0; (rule = submit_rule_at(i)); i++)
        if (rule->fallback)
            json_object_set_new(fields, rule->name, json_string(rule->fallback));
    if (!submit_fields_check(fields, &err))
        fail_msg("%s", err.message);
}

static void defaults_are_those_of_a_short_sprt(void **state) {
    (void)state;
    json_auto_t *f = complete("{}");
    assert_string_equal(field_text(f, "workload"), "sprt");
    assert_string_equal(field_text(f, "tc"), "10+0.1");
    assert_string_equal(field_text(f, "new_options"), "Hash=16");
    assert_int_equal(field_whole(f, "batch_pairs"), 16);
    assert_int_equal(field_whole(f, "pairs_max"), 400000);
    json_auto_t *rules = field_adjudication(f);
    json_auto_t *wanted =
        json_loads("{\"resign_score\": 600, \"resign_count\": 3, \"resign_two_sided\": false, "
                   "\"draw_move\": 34, \"draw_score\": 20, \"draw_count\": 8, \"max_moves\": 0}",
                   0, NULL);
    assert_true(json_equal(rules, wanted));
}

static void batches_follow_the_clock_and_pairs_are_whole_batches(void **state) {
    (void)state;
    json_auto_t *slow = complete("{\"tc\": \"60+0.6\"}");
    assert_int_equal(field_whole(slow, "batch_pairs"), 3);
    json_auto_t *fixed = complete("{\"workload\": \"fixed\", \"games\": 1001}");
    assert_int_equal(field_whole(fixed, "pairs_max"), 512);
    json_auto_t *own = complete("{\"batch_pairs\": 4, \"pairs_max\": 6}");
    assert_int_equal(field_whole(own, "pairs_max"), 8);
}

static void no_author_chooses_the_seed(void **state) {
    (void)state;
    Error err;
    json_auto_t *body = json_pack("{s:s, s:i}", "title", "x", "seed", 7);
    assert_null(submit_fields_of_json(body, &err));
    assert_string_equal(err.field, "seed");
    json_auto_t *left_out = complete("{}");
    assert_null(json_object_get(left_out, "seed"));
}

static void adjudication_may_be_off_an_object_or_in_parts(void **state) {
    (void)state;
    json_auto_t *off = complete("{\"adjudication\": \"off\", \"max_moves\": 100}");
    json_auto_t *a = field_adjudication(off);
    assert_int_equal(json_integer_value(json_object_get(a, "resign_count")), 0);
    assert_int_equal(json_integer_value(json_object_get(a, "draw_count")), 0);
    assert_int_equal(json_integer_value(json_object_get(a, "max_moves")), 0);
    json_auto_t *object =
        complete("{\"adjudication\": {\"resign_score\": 900, \"resign_two_sided\": true}}");
    json_auto_t *b = field_adjudication(object);
    assert_int_equal(json_integer_value(json_object_get(b, "resign_score")), 900);
    assert_true(json_is_true(json_object_get(b, "resign_two_sided")));
    assert_int_equal(json_integer_value(json_object_get(b, "draw_count")), 8);
    json_auto_t *part = complete("{\"draw\": \"off\"}");
    json_auto_t *c = field_adjudication(part);
    assert_int_equal(json_integer_value(json_object_get(c, "resign_count")), 3);
    assert_int_equal(json_integer_value(json_object_get(c, "draw_count")), 0);
}

static void options_with_blanks_are_kept_in_quotes(void **state) {
    (void)state;
    json_auto_t *f = complete("{\"new_options\": {\"Move Overhead\": 10, \"Flag\": true, "
                              "\"Path\": \"C:\\\\my \\\"x\\\"\"}, "
                              "\"base_options\": \"\\\"move  overhead=10\\\"   A=b\"}");
    assert_string_equal(field_text(f, "new_options"),
                        "\"Move Overhead\"=10 Flag=true Path=\"C:\\\\my \\\"x\\\"\"");
    assert_string_equal(field_text(f, "base_options"), "\"move overhead\"=10 A=b");
}

static void options_may_be_an_object_and_may_be_none(void **state) {
    (void)state;
    json_auto_t *f = complete("{\"new_options\": {\"Hash\": 64, \"Skill\": \"x\"}, "
                              "\"base_options\": \"\"}");
    assert_string_equal(field_text(f, "new_options"), "Hash=64 Skill=x");
    assert_string_equal(field_text(f, "base_options"), "");
}

static void empty_fields_count_as_absent_and_blanks_around_do_not_count(void **state) {
    (void)state;
    json_auto_t *f = complete("{\"tc\": \"\", \"title\": \"  A title \\r\\n\", \"bench\": null}");
    assert_string_equal(field_text(f, "tc"), "10+0.1");
    assert_string_equal(field_text(f, "title"), "A title");
    assert_null(json_object_get(f, "bench"));
}

static void each_bad_field_is_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *field, *words;
    } rows[] = {{"{\"threads\": 0}", "threads", "from 1 to 1024"},
                {"{\"threads\": \"1x\"}", "threads", "no whole number"},
                {"{\"elo0\": \"nan\"}", "elo0", "no number"},
                {"{\"elo0\": \"0x10000\"}", "elo0", "no number"},
                {"{\"tc\": \"10\\n+1\"}", "tc", "time control"},
                {"{\"workload\": \"sprt|fixed\"}", "workload", "none of sprt|fixed|width"},
                {"{\"workload\": \"spr\"}", "workload", "none of sprt|fixed|width"},
                {"{\"title\": \"a\\tb\"}", "title", "one line"},
                {"{\"new_options\": \"Hash\"}", "new_options", "Name=value"},
                {"{\"new_options\": \"=16\"}", "new_options", "Name=value"},
                {"{\"new_options\": \"Hash=\"}", "new_options", "<empty>"},
                {"{\"new_options\": \"Move Overhead=10\"}", "new_options", "quotes"},
                {"{\"new_options\": {\"A=B\": 1}}", "new_options", "no '='"},
                {"{\"new_options\": {\"A\": [1]}}", "new_options", "an object of options"},
                {"{\"new_options\": {\"A\": null}}", "new_options", "an object of options"},
                {"{\"new_options\": {\"A\\nquit\": 1}}", "new_options", "one line"},
                {"{\"new_options\": {\"Ponder\": true}}", "new_options", "by the test itself"},
                {"{\"new_options\": \"threads=2\"}", "new_options", "fields threads"},
                {"{\"new_options\": \"Hash=1 hash=2\"}", "new_options", "once"},
                {"{\"new_options\": \"H\\u00e4sh=1\"}", "new_options", "ASCII"},
                {"{\"new_options\": \"Hash=16\\nquit\"}", "new_options", "one line"},
                {"{\"title\": [1]}", "title", "text or a number"},
                {"{\"hat\": 1}", "hat", "no such field"},
                {"{\"adjudication\": {\"hat\": 1}}", "hat", "no such field"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Error err = {0};
        json_auto_t *fields = checked(rows[i].text, &err);
        if (fields)
            fail_msg("accepted: %s", rows[i].text);
        assert_int_equal(err.status, 422);
        assert_string_equal(err.field, rows[i].field);
        if (!strstr(err.message, rows[i].words))
            fail_msg("%s: %s", rows[i].text, err.message);
    }
}

static void bounds_that_contradict_each_other_are_refused(void **state) {
    (void)state;
    static const char *const rows[] = {"{\"elo0\": 2, \"elo1\": 2}", "{\"elo0\": 0, \"elo1\": -1}",
                                       "{\"elo0\": 0, \"elo1\": 0.001}",
                                       "{\"elo0\": 0, \"elo1\": 231}"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Error err = {0};
        json_auto_t *fields = checked(rows[i], &err);
        assert_non_null(fields);
        submit_fields_complete(fields);
        assert_false(submit_fields_agree(fields, &err));
        assert_string_equal(err.field, "elo1");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_of_the_table_is_within_its_own_bounds),
        cmocka_unit_test(defaults_are_those_of_a_short_sprt),
        cmocka_unit_test(batches_follow_the_clock_and_pairs_are_whole_batches),
        cmocka_unit_test(no_author_chooses_the_seed),
        cmocka_unit_test(adjudication_may_be_off_an_object_or_in_parts),
        cmocka_unit_test(options_may_be_an_object_and_may_be_none),
        cmocka_unit_test(options_with_blanks_are_kept_in_quotes),
        cmocka_unit_test(empty_fields_count_as_absent_and_blanks_around_do_not_count),
        cmocka_unit_test(each_bad_field_is_named),
        cmocka_unit_test(bounds_that_contradict_each_other_are_refused),
    };
    return cmocka_run_group_tests_name("submit_fields", tests, NULL, NULL);
}
