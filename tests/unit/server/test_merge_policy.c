// The policy of an engine: what it asks of a merge, and which policies are refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/submit/policy.h"
#include "tests/kit/merge_kit.h"

static const char *refusal(SubmitKit *kit, int64_t test) {
    const Caller *caller = submit_kit_as(kit, KIT_MAINTAINER);
    Merge *merge = submit_merge_prepare(caller, (MergeAsk){.test = test, .turned_too = true},
                                        &kit->ledger.err);
    merge_free(merge);
    return merge ? "" : kit->ledger.err.message;
}

static void a_policy_lists_what_is_missing(void **state) {
    static const struct {
        const char *policy, *refusal;
    } cases[] = {
        {"{\"stages\": [{\"model\": \"normalized\"}]}", ""},
        {"{\"stages\": [{\"elo1\": 3, \"alpha\": 0.05}]}", ""},
        {"{\"stages\": [{\"elo1\": 2}]}",
         "the policy of anvil asks for more: an accepted test of the same trees by any accepted "
         "test: elo1 2"},
        {"{\"stages\": [{\"alpha\": 0.01}]}", "alpha at most 0.01"},
        {"{\"stages\": [{\"preset\": \"LTC\"}]}", "by LTC: sprt, normalized, elo0 0.5"},
        {"{\"stages\": [{}], \"owners\": 1}", "of at least 1 vouched owner"},
        {"{\"stages\": [{\"tc\": \"10+0.1\"}, {\"tc\": \"60+0.6\"}]}", "test: 60+0.6"},
    };
    SubmitKit *kit = *state;
    int64_t test = kit_approved(kit, "{\"title\": \"One\", \"elo1\": 3, \"tc\": \"10+0.1\"}",
                                SUBMIT_KIT_ADDS("one.c", "int one;"));
    kit_accept(kit, test);
    kit_sql(&kit->ledger,
            "INSERT INTO presets VALUES (1, 1, 1, 'LTC', '{\"workload\": \"sprt\", \"model\": "
            "\"normalized\", \"elo0\": \"0.5\", \"tc\": \"60+0.6\"}')");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!policy_set(kit->ledger.db, 1, cases[i].policy, &kit->ledger.err))
            fail_msg("%s", kit->ledger.err.message);
        const char *said = refusal(kit, test);
        if (*cases[i].refusal ? !strstr(said, cases[i].refusal) : *said)
            fail_msg("%s: %s", cases[i].policy, said);
    }
    assert_true(policy_set(kit->ledger.db, 1, cases[4].policy, &kit->ledger.err));
    kit_sql(&kit->ledger, "DELETE FROM presets");
    assert_non_null(strstr(refusal(kit, test), "the preset 'LTC', which it no longer has"));
}

static void two_vouched_owners_are_asked_of_a_public_server(void **state) {
    SubmitKit *kit = *state;
    kit_accept(kit, 1);
    kit_sql(&kit->ledger, "INSERT INTO settings VALUES ('trust', 'public')");
    assert_non_null(strstr(refusal(kit, 1), "the preset 'STC', which it no longer has"));
    assert_true(policy_set(kit->ledger.db, 1, "{\"stages\":[{}]}", &kit->ledger.err));
    assert_non_null(strstr(refusal(kit, 1), "2 vouched owners"));
    for (int owner = 1; owner <= 3; owner++) {
        kit_sql(&kit->ledger, "INSERT INTO owner_totals VALUES (1, 'user %d', %d, 8, '{}')", owner,
                owner == 2 ? 1 : 2);
        assert_int_equal(*refusal(kit, 1) == 0, owner == 3);
    }
}

static void a_bad_policy_is_refused(void **state) {
    static const char *const bad[][2] = {
        {"{", "not JSON"},
        {"[]", "a JSON object"},
        {"{\"stage\": []}", "a JSON object"},
        {"{\"stages\": {}}", "a list"},
        {"{\"stages\": [1]}", "stage 1 is not an object"},
        {"{\"stages\": [{}, {\"elo2\": 1}]}", "stage 2 has 'elo2'"},
        {"{\"stages\": [{\"alpha\": \"0.05\"}]}", "'alpha' of stage 1 is not a number"},
        {"{\"stages\": [{\"preset\": \"Gone\"}]}", "no preset 'Gone'"},
        {"{\"owners\": -1}", "owners is a whole number"},
        {"{\"untested\": 101}", "untested is a whole number"},
    };
    SubmitKit *kit = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(policy_set(kit->ledger.db, 1, bad[i][0], &kit->ledger.err));
        if (!strstr(kit->ledger.err.message, bad[i][1]))
            fail_msg("%s: %s", bad[i][0], kit->ledger.err.message);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, submit_kit_set_up, submit_kit_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_policy_lists_what_is_missing),
        TEST(two_vouched_owners_are_asked_of_a_public_server),
        TEST(a_bad_policy_is_refused),
    };
    return cmocka_run_group_tests_name("merge_policy", tests, NULL, NULL);
}
