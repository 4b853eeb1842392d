// What is taken out of a line of a game, and what is left to the JSON library.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "server/ledger/game_text.h"

static GameText taken;
static char left[4096];

static const char *take(const char *line) {
    snprintf(left, sizeof left, "%s", line);
    left[game_text_take(left, strlen(left), &taken)] = 0;
    return left;
}

static void lists_and_moves_are_taken_and_the_rest_stays(void **state) {
    (void)state;
    assert_string_equal(take("{\"pair\": 7, \"clock_ms\": [ 10100 ,-5], \"moves\":\"e2e4 e7e8q\", "
                             "\"scores\":[null,3],\"depths\":[],\"nodes\" : [1]}"),
                        "{\"pair\": 7, \"clock_ms\": 0, \"moves\":\"\", "
                        "\"scores\":0,\"depths\":0,\"nodes\" : 0}");
    assert_string_equal(taken.moves, "e2e4 e7e8q");
    assert_int_equal(taken.counts[LIST_CLOCKS], 2);
    assert_int_equal(taken.values[LIST_CLOCKS][0], 10100);
    assert_int_equal(taken.values[LIST_CLOCKS][1], -5);
    assert_int_equal(taken.counts[LIST_SCORES], 2);
    assert_true(taken.values[LIST_SCORES][0] == GAME_LIST_NULL);
    assert_int_equal(taken.values[LIST_SCORES][1], 3);
    assert_int_equal(taken.counts[LIST_DEPTHS], 0);
    assert_int_equal(taken.counts[LIST_NODES], 1);
}

// Each of them is for the JSON library, which takes it as it is or refuses it.
static void what_is_something_else_stays_as_it_is(void **state) {
    (void)state;
    static const char *const lines[] = {
        "{\"scores\":[1.5]}",
        "{\"scores\":[1,]}",
        "{\"scores\":[\"1\"]}",
        "{\"scores\":[1",
        "{\"scores\":[[1]]}",
        "{\"scores\":[9223372036854775808]}",
        "{\"scores\":[-]}",
        "{\"scores\":\"[1]\"}",
        "{\"scores\",[1]}",
        "{\"score\":[1],\"scoress\":[1]}",
        "{\"opening\":{\"scores\":[1],\"moves\":\"e2e4\"}}",
        "{\"reason\":\"\\\"scores\\\":[1]\"}",
        "{\"moves\":\"e2e4\\u0020e7e5\"}",
        "{\"moves\":\"e2e4",
        "{\"moves\":[\"e2e4\"]}",
        "{\"a\":\"\\",
        "",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_string_equal(take(lines[i]), lines[i]);
        assert_int_equal(taken.counts[LIST_SCORES], -1);
        assert_false(taken.has_moves);
    }
}

// So that the JSON library still finds the member twice, and refuses the line.
static void a_member_is_taken_once(void **state) {
    (void)state;
    assert_string_equal(take("{\"scores\":[1],\"scores\":[2],\"moves\":\"a\",\"moves\":\"b\"}"),
                        "{\"scores\":0,\"scores\":[2],\"moves\":\"\",\"moves\":\"b\"}");
    assert_int_equal(taken.values[LIST_SCORES][0], 1);
    assert_string_equal(taken.moves, "a");
}

static void more_than_any_game_has_stays(void **state) {
    (void)state;
    static char line[8 * GAME_PLIES_MAX];
    for (int extra = 0; extra < 2; extra++) {
        int size = snprintf(line, sizeof line, "{\"nodes\":[1");
        for (int i = 1; i < GAME_PLIES_MAX + extra; i++)
            size += snprintf(line + size, sizeof line - (size_t)size, ",1");
        size += snprintf(line + size, sizeof line - (size_t)size, "]}");
        size_t now = game_text_take(line, (size_t)size, &taken);
        assert_int_equal(taken.counts[LIST_NODES], extra ? -1 : GAME_PLIES_MAX);
        assert_int_equal(now, extra ? (size_t)size : strlen("{\"nodes\":0}"));
    }
    memset(line, 'a', sizeof line);
    memcpy(line, "{\"moves\":\"", 10);
    line[sizeof line - 2] = '"';
    assert_int_equal(game_text_take(line, sizeof line, &taken), sizeof line);
    assert_false(taken.has_moves);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_and_moves_are_taken_and_the_rest_stays),
        cmocka_unit_test(what_is_something_else_stays_as_it_is),
        cmocka_unit_test(a_member_is_taken_once),
        cmocka_unit_test(more_than_any_game_has_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
