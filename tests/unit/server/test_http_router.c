// Which route a method and path find, with which parameters.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "server/http/router.h"

static const Route first[] = {
    {"GET", "/", ACCESS_ANYONE, 0, NULL, NULL},
    {"GET", "/tests/{id}", ACCESS_ANYONE, 0, NULL, NULL},
    {"POST", "/tests/new", ACCESS_ANYONE, 0, NULL, NULL},
    {"GET", "/tests/{id}/games/{seq}", ACCESS_ANYONE, 0, NULL, NULL},
    {0},
};
static const Route second[] = {
    {"GET", "/tests/new", ACCESS_ANYONE, 0, NULL, NULL},
    {"GET", "/git/{engine}.git/{rest...}", ACCESS_ANYONE, 0, NULL, NULL},
    {"PUT", "/tests/{id}", ACCESS_ANYONE, 0, NULL, NULL},
    {0},
};
static const Route *const tables[] = {first, second, NULL};

static RouteMatch finds(const char *method, const char *path, const Route *wanted) {
    RouteMatch match = route_find(tables, method, path);
    if (match.route != wanted)
        fail_msg("%s %s found %s", method, path, match.route ? match.route->pattern : "nothing");
    return match;
}

static void param_is(const RouteMatch *match, int at, const char *wanted) {
    assert_int_equal(match->params[at].size, strlen(wanted));
    assert_memory_equal(match->params[at].at, wanted, strlen(wanted));
}

static void literal_text_beats_a_parameter(void **state) {
    (void)state;
    finds("GET", "/", &first[0]);
    finds("GET", "/tests/new", &second[0]);
    finds("POST", "/tests/new", &first[2]);
    RouteMatch match = finds("GET", "/tests/42", &first[1]);
    param_is(&match, 0, "42");
}

static void parameters_come_in_order(void **state) {
    (void)state;
    RouteMatch match = finds("GET", "/tests/7/games/12", &first[3]);
    param_is(&match, 0, "7");
    param_is(&match, 1, "12");
}

static void a_parameter_may_stand_inside_text_and_the_last_may_take_the_rest(void **state) {
    (void)state;
    RouteMatch match = finds("GET", "/git/anvil.git/objects/ab/cd", &second[1]);
    param_is(&match, 0, "anvil");
    param_is(&match, 1, "objects/ab/cd");
    finds("GET", "/git/anvil/objects", NULL);
    finds("GET", "/git/.git/objects", NULL);
    finds("GET", "/git/anvil.git/", NULL);
}

static void paths_match_whole(void **state) {
    (void)state;
    const char *const none[] = {"/tests", "/tests/",         "/tests/42/", "/test/42",
                                "//",     "/tests/42/games", "x"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        finds("GET", none[i], NULL);
}

static void head_finds_get(void **state) {
    (void)state;
    finds("HEAD", "/tests/42", &first[1]);
    finds("HEAD", "/", &first[0]);
}

static void another_method_is_told_what_is_allowed(void **state) {
    (void)state;
    RouteMatch match = finds("DELETE", "/tests/42", NULL);
    assert_string_equal(match.allow, "GET, PUT");
    match = finds("GET", "/nowhere", NULL);
    assert_string_equal(match.allow, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literal_text_beats_a_parameter),
        cmocka_unit_test(parameters_come_in_order),
        cmocka_unit_test(a_parameter_may_stand_inside_text_and_the_last_may_take_the_rest),
        cmocka_unit_test(paths_match_whole),
        cmocka_unit_test(head_finds_get),
        cmocka_unit_test(another_method_is_told_what_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
