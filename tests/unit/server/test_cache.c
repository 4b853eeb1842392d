// What is kept, what goes first, and that a version is not taken for another.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "server/http/cache.h"

static Cache *cache;

static int make(void **state) {
    (void)state;
    cache = cache_new(80000);
    return 0;
}

static int drop(void **state) {
    (void)state;
    cache_free(cache);
    return 0;
}

static bool has(const char *key, unsigned long version, const char *text) {
    Str out;
    str_init(&out, 100000);
    bool found = cache_get(cache, key, version, &out);
    if (found)
        assert_string_equal(out.data, text);
    str_release(&out);
    return found;
}

static void a_text_comes_back_under_its_key_and_version(void **state) {
    (void)state;
    cache_put(cache, "a", 1, "one", 3);
    cache_put(cache, "b", 1, "two", 3);
    assert_true(has("a", 1, "one"));
    assert_true(has("b", 1, "two"));
    assert_false(has("a", 2, ""));
    assert_false(has("c", 1, ""));
    cache_put(cache, "a", 2, "new", 3);
    assert_true(has("a", 2, "new"));
    assert_false(has("a", 1, ""));
}

static void the_oldest_go_when_it_is_full(void **state) {
    (void)state;
    static char text[9001];
    memset(text, 'x', sizeof text - 1);
    for (int i = 0; i < 20; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        cache_put(cache, key, 1, text, sizeof text - 1);
    }
    assert_true(has("19", 1, text));
    assert_true(has("14", 1, text));
    assert_false(has("11", 1, ""));
    assert_false(has("0", 1, ""));
}

static void one_that_would_push_out_all_others_is_not_kept(void **state) {
    (void)state;
    static char text[20000];
    memset(text, 'x', sizeof text - 1);
    cache_put(cache, "small", 1, "one", 3);
    cache_put(cache, "large", 1, text, sizeof text - 1);
    assert_false(has("large", 1, ""));
    assert_true(has("small", 1, "one"));
}

static void many_small_ones_are_bounded_too(void **state) {
    (void)state;
    for (int i = 0; i < 5000; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        cache_put(cache, key, 1, "x", 1);
    }
    assert_true(has("4999", 1, "x"));
    assert_false(has("4000", 1, ""));
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, make, drop)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH(a_text_comes_back_under_its_key_and_version),
        WITH(the_oldest_go_when_it_is_full),
        WITH(one_that_would_push_out_all_others_is_not_kept),
        WITH(many_small_ones_are_bounded_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
