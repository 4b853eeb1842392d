// An SPRT with pairs of unproven owners: its two LLRs, what they decide, and what is left without
// an owner.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/ledger/count.h"
#include "sprt/sprt.h"

static const char GOOD[] = "3333222", BAD[] = "1111222", EVEN[] = "1322222";
enum { BATCH = 7 };

static Count count;

static int begin(void **state) {
    (void)state;
    Error err;
    if (!count_init(&count, "sprt",
                    "{\"model\":\"normalized\",\"elo0\":0.0,\"elo1\":20.0,\"alpha\":0.05,"
                    "\"beta\":0.05}",
                    "{}", &err))
        return -1;
    count.test.batch_units = BATCH;
    count.test.units_max = 100000;
    return 0;
}

static int end(void **state) {
    (void)state;
    count_release(&count);
    return 0;
}

static json_t *result_of(const char *outcomes) {
    int won = 0, lost = 0;
    for (const char *p = outcomes; *p; p++) {
        won += *p == '3';
        lost += *p == '1';
    }
    return json_pack("{s:s, s:i, s:i, s:i}", "outcomes", outcomes, "wins", won, "losses", lost,
                     "draws", 2 * BATCH - won - lost);
}

static const char *play_for(Count *test, OwnerLevel level, const char *outcomes) {
    json_auto_t *result = result_of(outcomes);
    count_add(test,
              &(WorkloadBatch){
                  .result = result, .owner = "user 1", .level = level, .sign = 1, .units = BATCH});
    return test->workload->judge(&test->test, test->state, test->units);
}

static const char *play(OwnerLevel level, const char *outcomes) {
    return play_for(&count, level, outcomes);
}

static double number(const char *path, const char *name) {
    json_t *at = json_object_get(count.state, path);
    return member_real(strcmp(path, "proven") == 0 ? json_object_get(at, "sprt") : at, name);
}

static json_t *documented(const char *result) {
    json_t *out = json_object();
    WorkloadFacts facts = {
        .test = count.test, .state = count.state, .result = result, .units = count.units};
    count.workload->document(&facts, out);
    return out;
}

static void document_says(const char *result, const char *words) {
    json_auto_t *out = documented(result);
    const char *text = member_text(json_object_get(out, "proven"), "text");
    if (!strstr(text, words))
        fail_msg("it says: %s", text);
}

static void text_says(const char *result, const char *words, bool whether) {
    json_auto_t *out = documented(result);
    const char *text = member_text(out, "text");
    if ((strstr(text, words) != NULL) != whether)
        fail_msg("it says: %s", text);
}

static void without_unproven_owners_there_is_one(void **state) {
    (void)state;
    const char *verdict = NULL;
    for (int i = 0; i < 1000 && !verdict; i++)
        verdict = play(i % 2 ? LEVEL_RECORDED : LEVEL_VOUCHED, GOOD);
    assert_string_equal(verdict, "accepted");
    assert_null(json_object_get(count.state, "proven"));
    json_auto_t *out = documented("accepted");
    assert_true(json_is_null(json_object_get(out, "proven")));
}

// As if the unproven owners had never played.
static void the_second_knows_nothing_of_unproven_pairs(void **state) {
    (void)state;
    Count alone;
    Error err;
    assert_true(count_init(&alone, "sprt",
                           "{\"model\":\"normalized\",\"elo0\":0.0,\"elo1\":20.0,\"alpha\":0.05,"
                           "\"beta\":0.05}",
                           "{}", &err));
    alone.test = (WorkloadTest){alone.parameters, BATCH, 100000};
    for (int i = 0; i < 60; i++) {
        const char *outcomes = i % 3 ? EVEN : GOOD;
        if (i % 7 == 5)
            play(LEVEL_UNPROVEN, BAD);
        play(LEVEL_VOUCHED, outcomes);
        play_for(&alone, LEVEL_VOUCHED, outcomes);
    }
    char *there scope(free_ptr) =
        count_text(json_object_get(json_object_get(count.state, "proven"), "sprt")),
                *wanted scope(free_ptr) = count_text(json_object_get(alone.state, "sprt"));
    assert_string_equal(there, wanted);
    assert_true(number("sprt", "llr") < number("proven", "llr"));
    count_release(&alone);
}

// The LLR of the vouched pairs stands still while the liars raise the other one.
static void liars_alone_pass_nothing(void **state) {
    (void)state;
    for (int i = 0; i < 40; i++)
        assert_null(play(LEVEL_VOUCHED, EVEN));
    for (int i = 0; i < 200; i++)
        assert_null(play(LEVEL_UNPROVEN, GOOD));
    assert_true(number("sprt", "llr") > 3);
    assert_true(number("proven", "llr") < 2.9);
    document_says("", "the verdict waits for this one");
    text_says("", "LLR without unproven owners: ", true);
    text_says("", "Accepted", false);
    const char *verdict = NULL;
    while (!verdict)
        verdict = play(LEVEL_VOUCHED, GOOD);
    assert_string_equal(verdict, "accepted");
    assert_true(number("proven", "llr") > 2);
    document_says("accepted", "Both are beyond one bound.");
    text_says("accepted", "Accepted above ", true);
}

static int64_t proven_pairs(void) {
    return (int64_t)number("proven", "pairs");
}

// They keep the other LLR up. A tenth more pairs is what that costs.
static void liars_keep_no_test_open(void **state) {
    (void)state;
    const char *verdict = NULL;
    for (int i = 0; i < 30; i++)
        assert_null(play(LEVEL_UNPROVEN, GOOD));
    while (number("proven", "verdict") < SPRT_REJECTED) {
        assert_null(play(LEVEL_VOUCHED, BAD));
        assert_null(play(LEVEL_UNPROVEN, GOOD));
    }
    int64_t beyond = proven_pairs();
    document_says("", "If that does not follow within");
    while (!verdict) {
        assert_null(play(LEVEL_UNPROVEN, GOOD));
        verdict = play(LEVEL_VOUCHED, BAD);
    }
    assert_string_equal(verdict, "rejected");
    assert_true(number("sprt", "llr") > -2);
    assert_in_range(proven_pairs(), (beyond * 11 + 9) / 10, (beyond * 11 + 9) / 10 + BATCH - 1);
    document_says("rejected", "it decides alone");
    text_says("rejected", ", which decides\n", true);
    text_says("rejected", "Rejected below", false);
    char summary[COUNT_SUMMARY_MAX];
    count_summary(&count, summary);
    assert_non_null(strstr(summary, "without unproven owners, which decides"));
}

// One that comes back between the bounds has not stood.
static void patience_begins_anew(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) { // so that a tenth of its pairs is more than a batch
        assert_null(play(LEVEL_UNPROVEN, GOOD));
        assert_null(play(LEVEL_VOUCHED, "3122222"));
    }
    for (int turn = 0; turn < 3; turn++) {
        while (number("proven", "verdict") < SPRT_REJECTED)
            assert_null(play(LEVEL_VOUCHED, BAD));
        assert_null(play(LEVEL_VOUCHED, BAD));
        while (number("proven", "verdict") > SPRT_OPEN)
            assert_null(play(LEVEL_VOUCHED, "3333333"));
    }
    assert_true(member_real(json_object_get(count.state, "proven"), "beyond") <= 0);
}

static void at_its_length_it_is_undecided(void **state) {
    (void)state;
    count.test.units_max = 71 * BATCH;
    for (int i = 0; i < 70; i++)
        assert_null(play(i ? LEVEL_UNPROVEN : LEVEL_VOUCHED, GOOD));
    assert_string_equal(play(LEVEL_VOUCHED, EVEN), "undecided");
    document_says("undecided", "A verdict needed both");
}

static void the_rest_is_what_others_played(void **state) {
    (void)state;
    json_auto_t *part = json_object();
    Count owner = count;
    owner.state = part;
    for (int i = 0; i < 10; i++) {
        play(LEVEL_VOUCHED, "1122222"); // 2 and 5 of each
        play(LEVEL_VOUCHED, "3122222");
        play(LEVEL_UNPROVEN, GOOD);
        play_for(&owner, LEVEL_UNPROVEN, GOOD);
    }
    count.workload->subtract(&count.test, part, count.state);
    const json_t *ptnml = json_object_get(count.state, "ptnml");
    double counts[5], wanted[5] = {0, 30, 100, 10, 0};
    for (size_t i = 0; i < 5; i++) {
        counts[i] = json_number_value(json_array_get(ptnml, i));
        assert_true(fabs(counts[i] - wanted[i]) < 0.5);
    }
    json_auto_t *points = count.workload->points(&count.test, count.state);
    assert_true(fabs(member_real(points, "llr") - sprt_llr(SPRT_NORMALIZED, 0, 20, wanted, 5)) <
                1e-9);
    char summary[COUNT_SUMMARY_MAX];
    count_summary(&count, summary);
    assert_null(strstr(summary, "unproven"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_unproven_owners_there_is_one, begin, end),
        cmocka_unit_test_setup_teardown(the_second_knows_nothing_of_unproven_pairs, begin, end),
        cmocka_unit_test_setup_teardown(liars_alone_pass_nothing, begin, end),
        cmocka_unit_test_setup_teardown(liars_keep_no_test_open, begin, end),
        cmocka_unit_test_setup_teardown(patience_begins_anew, begin, end),
        cmocka_unit_test_setup_teardown(at_its_length_it_is_undecided, begin, end),
        cmocka_unit_test_setup_teardown(the_rest_is_what_others_played, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
