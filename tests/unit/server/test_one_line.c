// Lines of text from outside: what acts instead of being seen is refused by its name.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "server/common/one_line.h"

static Error err;

static void what_people_write_is_taken(void **state) {
    (void)state;
    static const char *const good[] = {"", "Reduce later", "Größe, Ελληνικά, 中文, עברית, العربية",
                                       "a \\ backslash",
                                       "\xe2\x9d\xa4", // a heart
                                       // a technician: a woman, a joiner and a computer
                                       "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb",
                                       "wide \xe3\x80\x80 or hard \xc2\xa0 blanks"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(one_line_check("title", good[i], 0, 120, &err));
}

static void what_acts_is_refused_and_named(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"a\tb", "\\x09"},
        {"a\nb", "\\x0a"},
        {"a\rb", "\\x0d"},
        {"a\x1b[31m", "\\x1b"},
        {"a\x7f", "\\x7f"},
        {"a\xc2\x9b[m", "\\x9b"},
        {"a\xc2\x85", "\\x85"},
        {"a\xe2\x80\xae", "\\u202e"},
        {"a\xe2\x81\xa6", "\\u2066"},
        {"a\xe2\x81\xa9", "\\u2069"},
        {"a\xe2\x80\x8f", "\\u200f"},
        {"a\xd8\x9c", "\\u061c"},
        {"a\xe2\x80\xa8", "\\u2028"},
        {"a\xe2\x80\xa9", "\\u2029"},
        {"a\xff", "\\xff"},
        {"a\xc0\x80", "\\xc0"},
        {"a\xed\xa0\x80", "\\xed"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err = (Error){0};
        assert_false(one_line_check("the name", bad[i][0], 0, 120, &err));
        assert_int_equal(err.status, 422);
        assert_string_equal(err.field, "the name");
        assert_non_null(strstr(err.message, "the name must be one line"));
        assert_string_equal(strrchr(err.message, ' ') + 1, bad[i][1]);
    }
}

static void what_is_not_seen_is_refused_and_named(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"a\xe2\x80\x8b", "\\u200b"},
        {"a\xc2\xad", "\\u00ad"},
        {"a\xe1\xa0\x8e", "\\u180e"},
        {"\xe3\x85\xa4", "\\u3164"},
        {"\xe2\xa0\x80", "\\u2800"},
        {"a\xf3\xa0\x81\x81", "\\U000e0041"},
        {"\xe2\x9d\xa4\xef\xb8\x8f", "\\ufe0f"},
        {"a\xef\xbf\xbe", "\\ufffe"},
        {"a\xf0\x9f\xbf\xbf", "\\U0001ffff"},
        {"a\xef\xb7\x90", "\\ufdd0"},
        {"a\xef\xbf\xbc", "\\ufffc"},
        {"a\xe2\x80\x8d"
         "b",
         "\\u200d"},
        {"a\xe2\x80\x8d", "\\u200d"},
        {"\xe2\x80\x8d\xf0\x9f\x92\xbb", "\\u200d"}, // emoji on one side only
        {"\xf0\x9f\x92\xbb\xe2\x80\x8d", "\\u200d"},
        {"\xf0\x9f\x92\xbb\xe2\x80\x8d\xe2\x80\x8d\xf0\x9f\x92\xbb", "\\u200d"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err = (Error){0};
        assert_false(one_line_check("title", bad[i][0], 0, 120, &err));
        assert_string_equal(err.field, "title");
        assert_string_equal(strrchr(err.message, ' ') + 1, bad[i][1]);
    }
}

static void blanks_alone_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {" ", "\xc2\xa0", " \xe3\x80\x80 "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(one_line_check("title", bad[i], 0, 120, &err));
        assert_string_equal(err.message, "title consists of blanks alone");
    }
}

static void a_length_is_told_with_its_bounds(void **state) {
    (void)state;
    assert_false(one_line_check("name", "", 1, 4, &err));
    assert_false(one_line_check("name", "fünf!", 1, 4, &err));
    assert_string_equal(err.message, "name has 6 bytes; allowed are 1 to 4");
    assert_true(one_line_check("name", "four", 1, 4, &err));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_people_write_is_taken),
        cmocka_unit_test(what_acts_is_refused_and_named),
        cmocka_unit_test(what_is_not_seen_is_refused_and_named),
        cmocka_unit_test(blanks_alone_are_refused),
        cmocka_unit_test(a_length_is_told_with_its_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
