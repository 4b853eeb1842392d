// Tests of the same idea find each other: server/submit/ideas.h.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/common/json_member.h"
#include "server/submit/fields.h"
#include "server/submit/ideas.h"
#include "server/submit/merge.h"
#include "tests/kit/submit_kit.h"

#define DIFF(OLD, NEW)                                                                             \
    "--- a/main.c\n+++ b/main.c\n@@ -1,3 +1,3 @@\n int main(void) {\n-" OLD "\n+" NEW "\n }\n"
static const char PATCH[] = DIFF("    return 0;", "    return 1 / 1;");
static const char SPACED[] = DIFF("    return 0;", "    return 1 /1;");
static const char OTHER[] = DIFF("    return 0;", "    return 2 / 1;");
static const char REVERSE[] = DIFF("    return 1 / 1;", "    return 0;");

static int64_t submitted(SubmitKit *kit, const char *patch, const char *fields) {
    char *all scope(free_ptr) = xasprintf("{\"title\": \"x\"%s%s}", *fields ? ", " : "", fields);
    int64_t test = submit_kit_submit(kit, all, patch);
    if (!test)
        fail_msg("%s: %s", fields, kit->ledger.err.message);
    return test;
}

static void finish(SubmitKit *kit, int64_t test, const char *result, int units) {
    kit_sql(&kit->ledger,
            "UPDATE tests SET state = 'finished', finished = 5, result = '%s', units_counted = %d, "
            "approved_hash = iif('%s' = 'stopped', NULL, 'x') WHERE id = %lld",
            result, units, result, (long long)test);
}

static json_t *seen(SubmitKit *kit, int64_t test) {
    json_t *all = ideas_of_test(kit->ledger.db, test);
    assert_true(json_is_object(all));
    return all;
}

// What the first test of the list of `test` has in a member, and that it is `other`.
static const char *first(const json_t *all, int64_t other, const char *member) {
    const json_t *found = json_array_get(json_object_get(all, "tests"), 0);
    assert_int_equal(member_int(found, "id"), other);
    return member_text(found, member);
}

static void assert_alone(SubmitKit *kit, int64_t test) {
    json_auto_t *all = seen(kit, test);
    assert_int_equal(json_array_size(json_object_get(all, "tests")), 0);
    assert_true(json_is_null(json_object_get(all, "text")));
    assert_true(json_is_null(json_object_get(all, "chance")));
}

static void the_same_patch_is_found_whoever_sends_it(void **state) {
    SubmitKit *kit = *state;
    int64_t old = submitted(kit, PATCH, "\"elo1\": 3");
    assert_alone(kit, old);
    finish(kit, old, "rejected", 64);
    submit_kit_as(kit, KIT_DEVELOPER);
    int64_t again = submitted(kit, PATCH, "");
    json_auto_t *all = seen(kit, again), *later = seen(kit, old);
    assert_string_equal(first(all, old, "change"), "the same tree");
    assert_string_equal(first(all, old, "result"), "rejected");
    assert_string_equal(first(all, old, "author"), "ada");
    assert_string_equal(first(all, old, "terms"), "<0.00, 3.00>");
    assert_string_equal(first(later, again, "change"), "the same tree");
    assert_string_equal(first(later, again, "author"), "dev");
    assert_int_equal(strlen(member_text(all, "patch_id")), 40);
    assert_alone(kit, submitted(kit, OTHER, ""));
}

// The baseline has moved: other.c is there.
static void the_same_patch_on_another_base_is_found(void **state) {
    SubmitKit *kit = *state;
    int64_t old = submitted(kit, PATCH, "");
    kit_sql(&kit->ledger, "UPDATE engines SET baseline = '%s'", kit->patched);
    int64_t again = submitted(kit, PATCH, "");
    json_auto_t *all = seen(kit, again);
    assert_string_equal(first(all, old, "change"), "the same patch");
    assert_true(json_is_true(
        json_object_get(json_array_get(json_object_get(all, "tests"), 0), "other_base")));
}

static void a_change_of_white_space_is_found_and_said(void **state) {
    SubmitKit *kit = *state;
    int64_t old = submitted(kit, PATCH, ""), spaced = submitted(kit, SPACED, "");
    json_auto_t *all = seen(kit, spaced), *later = seen(kit, old);
    assert_string_equal(first(all, old, "change"), "the same patch but for white space");
    assert_string_equal(first(later, spaced, "change"), "the same patch but for white space");
}

static void set_baseline(SubmitKit *kit, int64_t test) {
    kit_sql(&kit->ledger,
            "UPDATE engines SET baseline = (SELECT sha FROM sides WHERE test_id = %lld AND "
            "side = 'new')",
            (long long)test);
}

// A diff from A to B and one from B to A may choose other lines.
static void one_equal_id_of_two_is_enough_for_a_reverse(void **state) {
    SubmitKit *kit = *state;
    int64_t old = submitted(kit, PATCH, "");
    set_baseline(kit, old);
    int64_t back = submitted(kit, REVERSE, "");
    kit_sql(&kit->ledger,
            "UPDATE ideas SET tree = 'other', patch_id = 'other' WHERE test_id = %lld",
            (long long)old);
    json_auto_t *all = seen(kit, back), *of_old = seen(kit, old);
    assert_string_equal(first(all, old, "alike"), "reverse");
    assert_string_equal(first(of_old, back, "alike"), "reverse");
    kit_sql(&kit->ledger,
            "UPDATE ideas SET patch_id = NULL, reverse_id = NULL, verbatim_id = NULL, "
            "verbatim_reverse = NULL");
    assert_alone(kit, back);
}

static void a_reverse_without_ids_is_found_by_its_trees(void **state) {
    SubmitKit *kit = *state;
    int64_t old = submitted(kit, PATCH, "");
    set_baseline(kit, old);
    int64_t back = submitted(kit, REVERSE, "");
    kit_sql(&kit->ledger,
            "UPDATE ideas SET patch_id = NULL, reverse_id = NULL, verbatim_id = NULL, "
            "verbatim_reverse = NULL");
    json_auto_t *all = seen(kit, back), *of_old = seen(kit, old);
    assert_string_equal(first(all, old, "change"), "its reverse");
    assert_string_equal(first(of_old, back, "change"), "its reverse");
}

static void a_reverse_on_another_base_is_found(void **state) {
    SubmitKit *kit = *state;
    int64_t old = submitted(kit, PATCH, "");
    kit_sql(&kit->ledger, "UPDATE engines SET baseline = '%s'", kit->patched);
    set_baseline(kit, submitted(kit, PATCH, ""));
    int64_t back = submitted(kit, REVERSE, "");
    json_auto_t *of_old = seen(kit, old);
    assert_string_equal(first(of_old, back, "change"), "its reverse");
}

static void the_reverse_is_found_and_counts_as_another_idea(void **state) {
    SubmitKit *kit = *state;
    int64_t old = submitted(kit, PATCH, ""), spaced = submitted(kit, SPACED, "");
    set_baseline(kit, old);
    int64_t back = submitted(kit, REVERSE, "");
    json_auto_t *all = seen(kit, back), *of_old = seen(kit, old), *of_spaced = seen(kit, spaced);
    assert_string_equal(first(all, spaced, "change"), "its reverse but for white space");
    assert_string_equal(first(of_old, back, "change"), "its reverse");
    assert_string_equal(first(of_spaced, back, "change"), "its reverse but for white space");
    assert_int_equal(json_array_size(json_object_get(all, "tests")), 2);
    assert_true(json_is_null(json_object_get(all, "chance")));
    assert_int_equal(member_int(json_object_get(of_old, "sprts"), "count"), 1);
}

static void assert_chance(SubmitKit *kit, int64_t test, int count, double chance,
                          const char *words) {
    json_auto_t *all = seen(kit, test);
    assert_int_equal(member_int(json_object_get(all, "sprts"), "count"), count);
    assert_float_equal(member_real(all, "chance"), chance, 1e-9);
    if (!strstr(member_text(all, "text"), words))
        fail_msg("'%s' is not in '%s'", words, member_text(all, "text"));
}

static void activate(SubmitKit *kit, int64_t test) {
    kit_sql(&kit->ledger, "UPDATE tests SET state = 'active', approved_hash = 'x' WHERE id = %lld",
            (long long)test);
}

// 1 - 0.95^3 is 14 %.
static void the_chance_counts_what_has_played_or_is_approved(void **state) {
    SubmitKit *kit = *state;
    int64_t one = submitted(kit, PATCH, ""), two = submitted(kit, PATCH, "");
    finish(kit, one, "rejected", 64);
    assert_chance(kit, two, 2, 1 - 0.95 * 0.95, "a probability of 10\u00a0%.");
    int64_t three = submitted(kit, SPACED, "");
    assert_chance(kit, three, 2, 1 - 0.95 * 0.95, "10"); // two waits for its approval
    activate(kit, two);
    assert_chance(kit, three, 3, 0.142625, "at least one of 3 SPRTs of this idea accepts it with");
    assert_chance(kit, three, 3, 0.142625, "a probability of 14\u00a0%.");
    assert_chance(kit, one, 2, 1 - 0.95 * 0.95, "10"); // three is not approved
    finish(kit, two, "stopped", 0);                    // it never played
    assert_chance(kit, three, 2, 1 - 0.95 * 0.95, "10");
    json_auto_t *of_two = seen(kit, two);
    assert_int_equal(member_int(json_object_get(of_two, "sprts"), "count"), 1);
    finish(kit, two, "stopped", 8); // its author saw how it went
    assert_chance(kit, three, 3, 0.142625, "14");
    activate(kit, submitted(kit, PATCH, "\"workload\": \"fixed\""));
    assert_chance(kit, three, 3, 0.142625, "14");
    activate(kit, submitted(kit, PATCH, "\"alpha\": 0.2"));
    assert_chance(kit, three, 4, 1 - 0.95 * 0.95 * 0.95 * 0.8, "31");
}

static void finished_tests_with_these_bounds_have_a_number_of_their_own(void **state) {
    SubmitKit *kit = *state;
    finish(kit, submitted(kit, PATCH, "\"elo1\": 3"), "rejected", 64);
    finish(kit, submitted(kit, PATCH, ""), "accepted", 64);
    finish(kit, submitted(kit, PATCH, ""), "stopped", 64);
    submitted(kit, PATCH, "");
    json_auto_t *all = seen(kit, submitted(kit, PATCH, ""));
    const json_t *sprts = json_object_get(all, "sprts");
    assert_int_equal(member_int(sprts, "count"), 4);
    assert_int_equal(member_int(sprts, "finished"), 2);
    assert_int_equal(member_int(sprts, "same_bounds"), 1);
}

// Such a test is about its options.
static void a_test_without_a_change_is_alike_to_those_with_its_options(void **state) {
    SubmitKit *kit = *state;
    static const char fields[] =
        "\"commit\": \"%s\", \"base\": \"%s\", \"new_options\": \"Hash=%d\"";
    int64_t tests[3];
    for (int i = 0; i < 3; i++) {
        char *text scope(free_ptr) = xasprintf(fields, kit->base, kit->base, i < 2 ? 16 : 32);
        tests[i] = submitted(kit, NULL, text);
    }
    json_auto_t *all = seen(kit, tests[1]);
    assert_string_equal(first(all, tests[0], "change"), "the same tree");
    assert_int_equal(json_array_size(json_object_get(all, "tests")), 1);
    assert_non_null(strstr(member_text(all, "note"), "changes no file"));
    assert_alone(kit, tests[2]);
}

static void before_it_is_submitted_the_same_is_said(void **state) {
    SubmitKit *kit = *state;
    submitted(kit, PATCH, "");
    int64_t spaced = submitted(kit, SPACED, "");
    json_auto_t *object = json_pack("{s:s, s:s}", "title", "x", "patch", PATCH);
    SubmitInput input = {.fields = submit_fields_of_json(object, &kit->ledger.err)};
    Submission *s = submit_prepare(&kit->caller, input, &kit->ledger.err);
    assert_non_null(s);
    json_auto_t *before = ideas_of_fields(kit->ledger.db, 1, &s->identity, s->fields);
    int64_t test = submit_store(&kit->caller, s, &kit->ledger.err);
    submission_free(s);
    kit_turn(&kit->ledger);
    json_auto_t *after = seen(kit, test);
    assert_true(json_equal(before, after));
    assert_string_equal(first(after, spaced, "alike"), "patch");
}

static void the_event_of_a_submission_names_the_others(void **state) {
    SubmitKit *kit = *state;
    int64_t old = submitted(kit, PATCH, ""), again = submitted(kit, PATCH, "");
    static const char sql[] = "SELECT message FROM events WHERE type = 'submitted' AND "
                              "test_id = %lld";
    char *alone scope(free_ptr) = kit_text(&kit->ledger, sql, (long long)old);
    char *told scope(free_ptr) = kit_text(&kit->ledger, sql, (long long)again);
    char *words scope(free_ptr) = xasprintf(
        "x. Other tests of this idea: test %lld (the same tree, pending).", (long long)old);
    assert_string_equal(alone, "x");
    assert_memory_equal(told, words, strlen(words));
}

static void a_patch_without_an_id_says_why(void **state) {
    SubmitKit *kit = *state;
    int64_t old = submitted(kit, PATCH, ""), again = submitted(kit, PATCH, "");
    kit_sql(&kit->ledger,
            "UPDATE ideas SET patch_id = NULL, reverse_id = NULL, verbatim_id = NULL, "
            "verbatim_reverse = NULL, missing = 'git failed'");
    json_auto_t *all = seen(kit, again);
    assert_string_equal(first(all, old, "change"), "the same tree");
    assert_string_equal(member_text(all, "note"), "The patch has no patch-id, so only tests of the "
                                                  "same tree are found: git failed.");
    assert_alone(kit, submitted(kit, SPACED, ""));
}

static void tests_of_another_engine_are_not_named(void **state) {
    SubmitKit *kit = *state;
    int64_t old = submitted(kit, PATCH, ""), again = submitted(kit, PATCH, "");
    kit_sql(&kit->ledger, "INSERT INTO engines (id, name, title, baseline, build, "
                          "reference_commit, reference_speed, created) "
                          "SELECT 2, 'other', title, baseline, build, baseline, 1, 1 FROM engines");
    kit_sql(&kit->ledger, "UPDATE ideas SET engine_id = 2 WHERE test_id = %lld", (long long)old);
    assert_alone(kit, again);
}

// An author sends copies so that the list has no room for what became of the first tests.
static void copies_push_out_no_test_at_which_a_maintainer_looked(void **state) {
    SubmitKit *kit = *state;
    int64_t last = 0, rejected = submitted(kit, PATCH, ""),
            harmful = submitted(kit, PATCH, "\"title\": \"harm\"");
    kit_sql(&kit->ledger, "INSERT INTO settings VALUES ('pending_tests', '1000')");
    finish(kit, rejected, "rejected", 64);
    kit_sql(&kit->ledger,
            "UPDATE tests SET state = 'finished', finished = 5, result = 'stopped', harmful = 1 "
            "WHERE id = %lld",
            (long long)harmful);
    for (int i = 0; i < IDEAS_LISTED_MAX; i++)
        last = submitted(kit, PATCH, "");
    char *words scope(free_ptr) =
        xasprintf("Other tests of this idea: test %lld (the same tree, stopped as harmful), test "
                  "%lld (the same tree, rejected), test %lld (the same tree, pending), test",
                  (long long)harmful, (long long)rejected, (long long)last - 1);
    json_auto_t *all = seen(kit, last), *of_first = seen(kit, rejected);
    assert_memory_equal(member_text(all, "text"), words, strlen(words));
    assert_non_null(strstr(member_text(all, "text"), " and at least 46 more."));
    assert_non_null(strstr(member_text(all, "text"), "a probability of 10\u00a0%."));
    assert_int_equal(json_array_size(json_object_get(all, "tests")), IDEAS_LISTED_MAX);
    assert_int_equal(json_array_size(json_object_get(of_first, "tests")), IDEAS_LISTED_MAX);
    assert_true(json_is_true(json_object_get(all, "more")));
    assert_string_equal(first(of_first, harmful, "result"), "stopped");
}

int main(void) {
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, submit_kit_set_up, submit_kit_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_same_patch_is_found_whoever_sends_it),
        TEST(the_same_patch_on_another_base_is_found),
        TEST(a_change_of_white_space_is_found_and_said),
        TEST(one_equal_id_of_two_is_enough_for_a_reverse),
        TEST(a_reverse_without_ids_is_found_by_its_trees),
        TEST(a_reverse_on_another_base_is_found),
        TEST(the_reverse_is_found_and_counts_as_another_idea),
        TEST(the_chance_counts_what_has_played_or_is_approved),
        TEST(finished_tests_with_these_bounds_have_a_number_of_their_own),
        TEST(a_test_without_a_change_is_alike_to_those_with_its_options),
        TEST(before_it_is_submitted_the_same_is_said),
        TEST(the_event_of_a_submission_names_the_others),
        TEST(a_patch_without_an_id_says_why),
        TEST(tests_of_another_engine_are_not_named),
        TEST(copies_push_out_no_test_at_which_a_maintainer_looked),
    };
    return cmocka_run_group_tests_name("ideas", tests, NULL, NULL);
}
