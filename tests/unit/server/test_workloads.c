// What every workload must do, and what those that play pairs share.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/ledger/count.h"
#include "server/ledger/pairs.h"
#include "server/ledger/workload.h"
#include "tests/kit/dice.h"

// A result of `pairs` pairs in which each drawn pair is two draws. New.
static json_t *make_result(const char *outcomes) {
    static const int wins[] = {0, 0, 0, 1, 2}, losses[] = {2, 1, 0, 0, 0};
    int won = 0, lost = 0, pairs = (int)strlen(outcomes);
    for (const char *p = outcomes; *p; p++) {
        won += wins[*p - '0'];
        lost += losses[*p - '0'];
    }
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "outcomes", outcomes, "wins", won,
                     "losses", lost, "draws", 2 * pairs - won - lost, "crashes", 0, "time_losses",
                     0, "ponders", 0, "ponders_against", 0);
}

static json_t *random_result(int pairs) {
    char outcomes[33] = "";
    for (int i = 0; i < pairs; i++)
        outcomes[i] = "0112222222223344"[roll(16)];
    return make_result(outcomes);
}

// The parameters that a test has if its submission states none. New.
static json_t *defaults_of(const Workload *workload) {
    json_t *parameters = json_object();
    for (const WorkloadField *f = workload->fields; f->rule.name; f++) {
        bool number = f->rule.kind == FIELD_DECIMAL;
        json_object_set_new(parameters, f->rule.name,
                            number ? json_real(strtod(f->rule.fallback, NULL))
                                   : json_string(f->rule.fallback));
    }
    return parameters;
}

static void every_workload_is_complete(void **state) {
    (void)state;
    assert_true(workload_count() >= 3);
    for (int i = 0; i < workload_count(); i++) {
        const Workload *w = workload_at(i);
        assert_ptr_equal(workload_named(w->name), w);
        assert_true(*w->label && w->version > 0 && w->units_max > 0);
        assert_true(w->agree && w->told && w->check && w->accept && w->judge && w->points);
        assert_true(w->terms && w->summary && w->promise && w->meaning && w->document && w->ended);
        assert_true(w->false_accept && w->expected && w->subtract);
        for (const WorkloadField *f = w->fields; f->rule.name; f++) {
            assert_ptr_equal(workload_field(f->rule.name), f); // no two have a parameter in common
            assert_true(*f->label && *f->hint && f->rule.fallback);
        }
    }
    assert_null(workload_named("spsa"));
    assert_null(workload_field("title"));
}

// A page may be asked for before the first batch has arrived.
static void a_test_without_batches_has_a_document(void **state) {
    (void)state;
    for (int i = 0; i < workload_count(); i++) {
        const Workload *w = workload_at(i);
        json_auto_t *parameters = defaults_of(w), *empty = json_object(), *out = json_object();
        WorkloadFacts facts = {.test = {parameters, 16, 32000}, .state = empty, .result = ""};
        Str line scope(str_release);
        str_init(&line, 1000);
        w->summary(&facts.test, empty, &line);
        w->document(&facts, out);
        json_auto_t *points = w->points(&facts.test, empty);
        assert_true(json_is_object(points) && json_object_size(points) > 0);
        assert_int_equal(w->meaning(&facts), MEANING_NONE);
        assert_null(w->judge(&facts.test, empty, 0));
        assert_non_null(w->judge(&facts.test, empty, facts.test.units_max));
        assert_true(w->promise(&facts.test, empty) >= 0);
        assert_int_equal(json_object_size(empty), 0);
    }
}

// The ledger keeps a state as text between two batches.
static void a_state_is_the_same_after_a_walk_through_text(void **state) {
    (void)state;
    const size_t flags = JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17);
    for (int i = 0; i < workload_count(); i++) {
        const Workload *w = workload_at(i);
        json_auto_t *parameters = defaults_of(w), *kept = json_object();
        WorkloadTest test = {parameters, 16, 32000};
        char *text = strdup("{}");
        dice = (uint64_t)i;
        for (int n = 0; n < 200; n++) {
            json_auto_t *result = random_result(16), *told = w->told(&test, kept, 16 * n, 16),
                        *read = json_loads(text, 0, NULL);
            WorkloadBatch batch = {.told = told,
                                   .result = result,
                                   .owner = "user 1",
                                   .level = LEVEL_VOUCHED,
                                   .sign = 1,
                                   .units = 16};
            w->accept(&test, &batch, kept);
            w->accept(&test, &batch, read);
            free(text);
            text = json_dumps(read, flags);
            char *straight = json_dumps(kept, flags);
            assert_string_equal(text, straight);
            free(straight);
        }
        free(text);
    }
}

static void a_batch_of_exchanged_sides_counts_the_other_way_round(void **state) {
    (void)state;
    json_auto_t *straight = make_result("01233444"), *exchanged = make_result("43211000");
    Pairs a = {0}, b = {0};
    pairs_add(&a, &(WorkloadBatch){.result = straight, .sign = 1, .units = 8});
    pairs_add(&b, &(WorkloadBatch){.result = exchanged, .sign = -1, .units = 8});
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(a.ptnml[4], 3);
    assert_int_equal(a.wins, 8);
}

static void a_fixed_test_ends_with_its_last_pair(void **state) {
    (void)state;
    const Workload *fixed = workload_named("fixed");
    json_auto_t *none = json_object();
    WorkloadTest test = {none, 16, 32};
    assert_null(fixed->judge(&test, none, 16));
    assert_string_equal(fixed->judge(&test, none, 32), "completed");
}

// 400 pairs of one pattern, in batches of 16.
static void fill(const Workload *w, const WorkloadTest *test, const char *pattern, int batches,
                 json_t *state) {
    json_auto_t *result = make_result(pattern), *told = w->told(test, state, 0, 16);
    for (int i = 0; i < batches; i++)
        w->accept(
            test,
            &(WorkloadBatch){
                .told = told, .result = result, .level = LEVEL_VOUCHED, .sign = 1, .units = 16},
            state);
}

static void an_sprt_is_accepted_by_wins_and_rejected_by_losses(void **state) {
    (void)state;
    const Workload *sprt = workload_named("sprt");
    json_auto_t *parameters = defaults_of(sprt), *won = json_object(), *lost = json_object();
    WorkloadTest test = {parameters, 16, 400000};
    fill(sprt, &test, "2222223222233222", 400, won);
    fill(sprt, &test, "2222221222211222", 400, lost);
    assert_string_equal(sprt->judge(&test, won, 6400), "accepted");
    assert_string_equal(sprt->judge(&test, lost, 6400), "rejected");
    WorkloadFacts facts = {.test = test, .state = won, .result = "accepted", .units = 6400};
    assert_int_equal(sprt->meaning(&facts), MEANING_BETTER);
    facts.result = "undecided";
    assert_int_equal(sprt->meaning(&facts), MEANING_UNDECIDED);
    facts.result = "accepted";
    json_object_set_new(parameters, "elo0", json_real(-3));
    json_object_set_new(parameters, "elo1", json_real(1));
    assert_int_equal(sprt->meaning(&facts), MEANING_NOT_WORSE);
}

// With wide bounds a batch is a long step of the LLR.
static void a_short_test_with_wide_bounds_passes_below_the_nominal_bound_and_says_so(void **state) {
    (void)state;
    const Workload *sprt = workload_named("sprt");
    json_auto_t *parameters = defaults_of(sprt), *kept = json_object(), *out = json_object();
    json_object_set_new(parameters, "model", json_string("logistic"));
    json_object_set_new(parameters, "elo1", json_real(10));
    WorkloadTest test = {parameters, 16, 400000};
    for (int64_t units = 0; !sprt->judge(&test, kept, units); units += 16)
        fill(sprt, &test, "2232112323223212", 1, kept);
    WorkloadFacts facts = {.test = test, .state = kept, .result = "accepted"};
    sprt->document(&facts, out);
    double llr = json_number_value(json_object_get(out, "llr"));
    assert_true(llr > 2 && llr < 2.94);
    assert_non_null(strstr(json_string_value(json_object_get(out, "text")), "\nAccepted above 2."));
}

// Independent games of which half are drawn.
static const double EVEN[5] = {0.0625, 0.25, 0.375, 0.25, 0.0625};

static double expected_at(const Workload *w, const WorkloadTest *test, size_t row,
                          const char *member) {
    json_auto_t *expected = w->expected(test, EVEN);
    const json_t *value =
        json_object_get(json_array_get(json_object_get(expected, "cases"), row), member);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void an_sprt_says_how_it_may_end_before_it_begins(void **state) {
    (void)state;
    const Workload *sprt = workload_named("sprt");
    json_auto_t *parameters = defaults_of(sprt), *expected = NULL;
    WorkloadTest test = {parameters, 16, 400000};
    expected = sprt->expected(&test, EVEN);
    assert_string_equal(member_text(expected, "unit"), "normalized");
    assert_int_equal(json_array_size(json_object_get(expected, "cases")), 5);
    static const double truths[] = {0, 1, 3, 5, 8};
    for (size_t i = 0; i < 5; i++) {
        assert_true(expected_at(sprt, &test, i, "elo") == truths[i]);
        assert_true(fabs(expected_at(sprt, &test, i, "accepted") +
                         expected_at(sprt, &test, i, "rejected") +
                         expected_at(sprt, &test, i, "undecided") - 1) < 1e-9);
    }
    assert_true(fabs(expected_at(sprt, &test, 0, "accepted") - 0.05) < 0.002);
    assert_true(fabs(expected_at(sprt, &test, 0, "units") - 80000) < 1000);
    test.units_max = 8000; // a tenth of that
    assert_true(expected_at(sprt, &test, 0, "undecided") > 0.5);
    assert_true(expected_at(sprt, &test, 0, "units") < 8000);
    json_object_set_new(parameters, "elo1", json_real(300)); // no LLR exists
    assert_true(isnan(expected_at(sprt, &test, 0, "units")));
}

static void other_tests_say_their_length(void **state) {
    (void)state;
    const Workload *width = workload_named("width"), *fixed = workload_named("fixed");
    json_auto_t *none = json_object(), *of_width = defaults_of(width);
    WorkloadTest test = {none, 16, 1000};
    assert_true(expected_at(fixed, &test, 0, "units") == 1000);
    assert_true(isnan(expected_at(fixed, &test, 0, "accepted")));
    test = (WorkloadTest){of_width, 16, 400000};
    double pairs = expected_at(width, &test, 0, "units");
    assert_true(pairs > 1000 && pairs < 20000);
    test.units_max = 800;
    assert_true(expected_at(width, &test, 0, "units") == 800);
}

static void a_measurement_ends_when_its_interval_is_narrow(void **state) {
    (void)state;
    const Workload *width = workload_named("width");
    json_auto_t *parameters = json_pack("{s:f, s:s}", "error", 10.0, "unit", "logistic"),
                *few = json_object(), *many = json_object();
    WorkloadTest test = {parameters, 16, 400000};
    fill(width, &test, "2123222231222222", 10, few);
    fill(width, &test, "2123222231222222", 200, many);
    assert_null(width->judge(&test, few, 160));
    assert_string_equal(width->judge(&test, many, 3200), "completed");
    json_object_set_new(parameters, "error", json_real(0.1));
    assert_null(width->judge(&test, many, 3200));
    test.units_max = 3200;
    assert_string_equal(width->judge(&test, many, 3200), "completed");
    WorkloadFacts facts = {.test = test, .state = many, .result = "completed", .units = 3200};
    json_auto_t *out = json_object();
    width->document(&facts, out);
    assert_true(json_is_true(json_object_get(json_object_get(out, "width"), "capped")));
}

// ---- golden values ------------------------------------------------------------------------------

// One batch with these numbers of pairs. New.
static json_t *make_counted_result(const int ptnml[5]) {
    char *outcomes = malloc(50000), *end = outcomes;
    for (int i = 0; i < 5; i++)
        end = (char *)memset(end, '0' + i, (size_t)ptnml[i]) + ptnml[i];
    *end = 0;
    json_t *result = make_result(outcomes);
    free(outcomes);
    return result;
}

static void a_batch_moves_the_llr_to_its_golden_value(void **state) {
    (void)state;
    static const int ptnml[] = {500, 5000, 9000, 5300, 560};
    const Workload *sprt = workload_named("sprt"), *fixed = workload_named("fixed");
    json_auto_t *parameters = defaults_of(sprt), *result = make_counted_result(ptnml),
                *of_sprt = json_object(), *of_fixed = json_object();
    WorkloadTest test = {parameters, 16, 400000};
    WorkloadBatch batch = {.result = result, .level = LEVEL_VOUCHED, .sign = 1, .units = 20360};
    sprt->accept(&test, &batch, of_sprt);
    json_auto_t *points = sprt->points(&test, of_sprt);
    assert_true(fabs(member_real(points, "llr") - 3.37147139) < 1e-8);
    assert_string_equal(sprt->judge(&test, of_sprt, 20360), "accepted");
    fixed->accept(&test, &batch, of_fixed);
    json_auto_t *others = fixed->points(&test, of_fixed);
    assert_null(json_object_get(others, "llr"));
    assert_null(fixed->judge(&test, of_fixed, 20360));
}

// ---- texts of a row -----------------------------------------------------------------------------

static void texts_that_are_no_state_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *workload, *parameters, *state;
    } bad[] = {
        {"sprt", "{}", ""},         {"sprt", "{}", "[]"},        {"sprt", "{}", "null"},
        {"sprt", "{}", "{\"v\":1"}, {"sprt", "[]", "{}"},        {"sprt", "", "{}"},
        {"spsa", "{}", "{}"},       {"sprt", "{}", "{\"v\":9}"}, {"sprt", "{}", "{\"wins\":1}"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Error err = {0};
        Count count;
        if (count_init(&count, bad[i].workload, bad[i].parameters, bad[i].state, &err))
            fail_msg("taken: %s %s %s", bad[i].workload, bad[i].parameters, bad[i].state);
        assert_string_equal(err.code, "database");
        count_release(&count);
    }
}

static void a_new_state_has_the_version_of_its_workload(void **state) {
    (void)state;
    Error err;
    Count count;
    assert_true(count_init(&count, "fixed", "{}", "{}", &err));
    char *text = count_state_text(&count);
    assert_string_equal(text, "{\"v\":1}");
    free(text);
    json_object_set_new(count.state, "wins", json_integer(3));
    count.units = 9;
    count_restart(&count);
    text = count_state_text(&count);
    assert_string_equal(text, "{\"v\":1}");
    assert_int_equal(count.units, 0);
    free(text);
    count_release(&count);
}

// ---- results ------------------------------------------------------------------------------------

static const struct {
    const char *change, *code, *field; // the change of a result of "2134"; code "": it is good
} cases[] = {
    {"{}", "", ""},
    {"{\"wins\": 5, \"losses\": 3, \"draws\": 0}", "bad_counts", "draws"},
    {"{\"wins\": 9}", "bad_counts", "wins"},
    {"{\"wins\": -1}", "bad_counts", "wins"},
    {"{\"wins\": 4611686018427387904}", "bad_counts", "wins"},
    {"{\"wins\": 2.0}", "bad_counts", "wins"},
    {"{\"draws\": 3}", "bad_counts", "draws"},
    {"{\"outcomes\": \"213\"}", "bad_counts", "outcomes"},
    {"{\"outcomes\": \"2135\"}", "bad_counts", "outcomes"},
    {"{\"outcomes\": \"\"}", "bad_counts", "outcomes"},
    {"{\"outcomes\": 2134}", "bad_request", "result"},
    {"{\"more\": 1}", "bad_request", "result"},
    {"{\"crashes\": 9}", "bad_counts", "crashes"},
    {"{\"crashes\": 5, \"time_losses\": 4}", "bad_counts", "time_losses"},
    {"{\"crashes\": 4, \"time_losses\": 4}", "", ""},
    {"{\"crashes\": 4, \"time_losses\": 3, \"ponders\": 1}", "", ""},
    {"{\"crashes\": 4, \"time_losses\": 3, \"ponders\": 1, \"ponders_against\": 1}", "bad_counts",
     "time_losses"},
    {"{\"ponders\": 2}", "bad_counts", "ponders"},
    {"{\"ponders_against\": 3}", "", ""},
    {"{\"ponders_against\": 4}", "bad_counts", "ponders_against"},
};

static void results_that_contradict_themselves_are_refused(void **state) {
    (void)state;
    WorkloadDealt dealt = {.units = 4};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Error err = {0};
        json_auto_t *result = make_result("2134"), *change = json_loads(cases[i].change, 0, NULL);
        json_object_update(result, change);
        bool good = pairs_check(&dealt, result, &err);
        if (good != !*cases[i].code || strcmp(err.code, cases[i].code) != 0 ||
            strcmp(err.field, cases[i].field) != 0)
            fail_msg("%s: %s on field \"%s\": %s", cases[i].change, err.code, err.field,
                     err.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_workload_is_complete),
        cmocka_unit_test(a_test_without_batches_has_a_document),
        cmocka_unit_test(a_state_is_the_same_after_a_walk_through_text),
        cmocka_unit_test(a_batch_of_exchanged_sides_counts_the_other_way_round),
        cmocka_unit_test(a_fixed_test_ends_with_its_last_pair),
        cmocka_unit_test(an_sprt_is_accepted_by_wins_and_rejected_by_losses),
        cmocka_unit_test(a_short_test_with_wide_bounds_passes_below_the_nominal_bound_and_says_so),
        cmocka_unit_test(an_sprt_says_how_it_may_end_before_it_begins),
        cmocka_unit_test(other_tests_say_their_length),
        cmocka_unit_test(a_measurement_ends_when_its_interval_is_narrow),
        cmocka_unit_test(a_batch_moves_the_llr_to_its_golden_value),
        cmocka_unit_test(texts_that_are_no_state_are_refused),
        cmocka_unit_test(a_new_state_has_the_version_of_its_workload),
        cmocka_unit_test(results_that_contradict_themselves_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
