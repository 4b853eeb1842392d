// Results by class of machine: which machines are of one class, whether the machines of a class
// agree, whether the classes do, and what differed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/pages/doc_classes.h"

static json_t *test, *workers;

static int set_up(void **state) {
    (void)state;
    test = json_object();
    workers = json_array();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    json_decref(test);
    json_decref(workers);
    return 0;
}

// A machine as the query gives it.
static void add(const char *isa, const char *cpu, const char *compiler, const int n[5]) {
    json_array_append_new(
        workers, json_pack("{s:i, s:s?, s:s?, s:s?, s:s?, s:i, s:i, s:i, s:i, s:i, s:i}", "id",
                           (int)json_array_size(workers) + 1, "arch", "x86_64", "isa", isa, "cpu",
                           cpu, "compiler", compiler, "pairs", n[0] + n[1] + n[2] + n[3] + n[4],
                           "n0", n[0], "n1", n[1], "n2", n[2], "n3", n[3], "n4", n[4]));
}

static const int even[5] = {5, 45, 100, 45, 5}, wins[5] = {0, 10, 60, 100, 30};

static json_t *classes(void) {
    return json_object_get(json_object_get(test, "classes"), "items");
}

static const char *text(void) {
    return member_text(json_object_get(test, "classes"), "text");
}

static const char *mark(const json_t *list, size_t i, const char *name) {
    return member_text(json_array_get(list, i), name);
}

static void machines_of_one_processor_family_are_of_one_class(void **state) {
    (void)state;
    static const char *const cpus[][2] = {
        {"AMD Ryzen 9 5950X 16-Core Processor", "AMD Ryzen"},
        {"AMD Ryzen 7 7840U", "AMD Ryzen"},
        {"Intel(R) Core(TM) i7-9700 CPU @ 3.00GHz", "Intel Core"},
        {"Intel(R) Xeon(R) Gold 6130 CPU", "Intel Xeon Gold"},
        {"Neoverse-N1", "unknown processor"},
        {"", "unknown processor"},
        {"  ", "unknown processor"},
        {"(R)", "unknown processor"},
    };
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
        add("x86-64-v3", cpus[i][0], "gcc 12.2.0", even);
    doc_add_classes(test, workers);
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
        assert_non_null(strstr(mark(workers, i, "class"), cpus[i][1]));
    assert_int_equal(json_array_size(classes()), 4);
    assert_int_equal(member_int(json_array_get(classes(), 0), "machines"), 4);
    assert_null(json_object_get(json_array_get(workers, 0), "cpu"));
}

static void what_differed_is_said(void **state) {
    (void)state;
    add("x86-64-v3", "AMD Ryzen 9", "gcc 12.2.0", even);
    doc_add_classes(test, workers);
    assert_string_equal(text(),
                        "One machine: one instruction set (x86-64-v3), one processor family "
                        "(AMD Ryzen) and one compiler (gcc 12.2.0).");
    tear_down(state);
    set_up(state);
    add("x86-64-v3", "AMD Ryzen 9", "gcc 12.2.0", even);
    add("x86-64-v3", "AMD Ryzen 7", "clang 14.0.6", even);
    add("", "AMD Ryzen 7", NULL, even);
    doc_add_classes(test, workers);
    assert_string_equal(text(), "3 machines: 2 instruction sets (x86-64-v3, x86_64), one processor "
                                "family (AMD Ryzen) and 3 compilers (gcc 12.2.0, clang 14.0.6, "
                                "unknown compiler).");
}

static void a_class_has_the_sum_of_its_machines(void **state) {
    (void)state;
    add("v3", "AMD Ryzen 9", "gcc 12", even);
    add("v4", "AMD Ryzen 9", "gcc 12", even);
    add("v4", "AMD Ryzen 7", "gcc 12", wins);
    doc_add_classes(test, workers);
    const json_t *first = json_array_get(classes(), 0);
    assert_string_equal(member_text(first, "name"), "v4, AMD Ryzen, gcc 12"); // it has most pairs
    assert_int_equal(member_int(first, "pairs"), 400);
    static const int sum[5] = {5, 55, 160, 145, 35};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(json_integer_value(json_array_get(json_object_get(first, "ptnml"), i)),
                         sum[i]);
    assert_true(fabs(member_real(first, "elo") - 65.6) < 0.5); // a score of 0.59375
    assert_true(member_real(first, "error") > 0);
    assert_true(fabs(member_real(json_array_get(classes(), 1), "elo")) < 1e-9);
}

static void a_machine_apart_shows_within_its_class(void **state) {
    (void)state;
    for (int i = 0; i < 6; i++)
        add("v3", "AMD Ryzen 9", "gcc 12", i == 2 ? wins : even);
    for (int i = 0; i < 4; i++)
        add("v4", "Intel Xeon", "gcc 12", even);
    doc_add_classes(test, workers);
    assert_string_equal(mark(workers, 2, "class_mark"), "red");
    assert_string_equal(mark(workers, 2, "mark"), "red");
    assert_string_equal(mark(workers, 8, "class_mark"), "green");
    assert_true(json_is_object(json_object_get(json_array_get(classes(), 0), "comparison")));
}

// Then each machine differs from the others, and none from those like it.
static void a_class_apart_shows_between_the_classes(void **state) {
    (void)state;
    for (int i = 0; i < 6; i++)
        add("v3", "AMD Ryzen 9", i < 2 ? "clang 14" : "gcc 12", i < 2 ? wins : even);
    doc_add_classes(test, workers);
    assert_string_equal(mark(workers, 0, "mark"), "red");
    assert_string_equal(mark(workers, 0, "class_mark"), "green");
    assert_string_equal(mark(classes(), 0, "mark"), "red");
    double p = member_real(json_object_get(json_object_get(test, "classes"), "comparison"), "p");
    assert_true(p < 1e-6);
}

static void units_that_are_no_pairs_have_no_elo(void **state) {
    (void)state;
    json_array_append_new(workers, json_pack("{s:i, s:i, s:n, s:n, s:n, s:n, s:n}", "id", 1,
                                             "pairs", 7, "n0", "n1", "n2", "n3", "n4"));
    doc_add_classes(test, workers);
    assert_true(json_is_null(json_object_get(json_array_get(classes(), 0), "error")));
    assert_true(json_is_null(json_object_get(test, "comparison")));
}

static void nothing_played_has_no_classes(void **state) {
    (void)state;
    doc_add_classes(test, workers);
    assert_int_equal(json_array_size(classes()), 0);
    assert_true(json_is_null(json_object_get(json_object_get(test, "classes"), "text")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(machines_of_one_processor_family_are_of_one_class),
        TEST(what_differed_is_said),
        TEST(a_class_has_the_sum_of_its_machines),
        TEST(a_machine_apart_shows_within_its_class),
        TEST(a_class_apart_shows_between_the_classes),
        TEST(units_that_are_no_pairs_have_no_elo),
        TEST(nothing_played_has_no_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
