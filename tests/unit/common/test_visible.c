// Strangers' bytes where people look at them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/common/log.h"
#include "server/common/visible.h"

typedef struct Case {
    const char *bytes;
    size_t size;
    const char *text;
} Case;

#define CASE(bytes, text)                                                                          \
    { bytes, sizeof bytes - 1, text }

static void check(const Case *cases, size_t count, bool lines) {
    for (size_t i = 0; i < count; i++) {
        Str out scope(str_release);
        char copy[200];
        str_init(&out, 1000);
        visible_add(&out, cases[i].bytes, cases[i].size, lines);
        assert_string_equal(out.data, cases[i].text);
        assert_int_equal(visible_copy(copy, sizeof copy, cases[i].bytes, cases[i].size, lines),
                         out.size);
        assert_string_equal(copy, cases[i].text);
    }
}
#define CHECK(cases, lines) check(cases, sizeof cases / sizeof *cases, lines)

static void control_characters_are_written_out(void **state) {
    (void)state;
    static const Case cases[] = {
        CASE("a\x1B[31mb", "a\\x1b[31mb"),
        CASE("forged\n2026-01-01 info  line", "forged\\x0a2026-01-01 info  line"),
        CASE("\r\t\0\x7F", "\\x0d\\x09\\x00\\x7f"),
        CASE("\xC2\x80\xC2\x9B\xC2\x9D\xC2\x9F\xC2\xA0", "\\x80\\x9b\\x9d\\x9f\xC2\xA0"),
    };
    CHECK(cases, false);
}

static void characters_that_turn_writing_or_are_not_seen_are_written_out(void **state) {
    (void)state;
    static const Case cases[] = {
        CASE("\xD8\x9C\xE2\x80\x8E\xE2\x80\x8F", "\\u061c\\u200e\\u200f"),
        CASE("\xE2\x80\xAA\xE2\x80\xAE\xE2\x81\xA6\xE2\x81\xA9", "\\u202a\\u202e\\u2066\\u2069"),
        CASE("\xC2\xAD\xE2\x80\x8B\xE2\x80\x8D\xEF\xBB\xBF", "\\u00ad\\u200b\\u200d\\ufeff"),
        CASE("\xE2\x80\xA8\xE2\x80\xA9", "\\u2028\\u2029"),
        CASE("\xF3\xA0\x81\x81", "\\U000e0041"),
        CASE("\xE2\xA0\x80\xEF\xBF\xBE\xEF\xB7\x90", "\\u2800\\ufffe\\ufdd0"),
    };
    CHECK(cases, false);
}

static void bytes_that_are_no_utf8_are_written_out(void **state) {
    (void)state;
    static const Case cases[] = {
        CASE("\xE4\xFCx", "\\xe4\\xfcx"),
        CASE("\x9B"
             "31m",
             "\\x9b31m"),
        CASE("\xC0\x8A\xE0\x80\x8A", "\\xc0\\x8a\\xe0\\x80\\x8a"), // newlines, overlong
        CASE("\xED\xA0\x80\xF5\xF4\x90\x80\x80", "\\xed\\xa0\\x80\\xf5\\xf4\\x90\\x80\\x80"),
        CASE("\xE2\x80", "\\xe2\\x80"),
    };
    CHECK(cases, false);
}

static void everything_else_stays_as_it_is(void **state) {
    (void)state;
    static const Case cases[] = {
        CASE("", ""),
        CASE("say \"\\n\" \\x1b", "say \"\\n\" \\x1b"),
        CASE("\xC3\xA4\xE2\x80\x98\xE4\xB8\xAD\xF0\x9F\x98\x80\xEF\xBF\xBD",
             "\xC3\xA4\xE2\x80\x98\xE4\xB8\xAD\xF0\x9F\x98\x80\xEF\xBF\xBD"),
    };
    CHECK(cases, false);
}

static void lines_stay_lines_where_they_are_wanted(void **state) {
    (void)state;
    static const Case cases[] = {
        CASE("one\n\ttwo\r\nthree", "one\n\ttwo\r\nthree"),
        CASE("100%\r101%\r\r\n\x0B\x0C\r", "100%\\x0d101%\\x0d\r\n\\x0b\\x0c\\x0d"),
        CASE("\xE2\x80\xA8", "\\u2028"),
    };
    CHECK(cases, true);
}

static void what_does_not_fit_ends_at_a_whole_character(void **state) {
    (void)state;
    char out[7];
    assert_int_equal(visible_copy(out, sizeof out, "abc\x1B", 4, false), 3);
    assert_string_equal(out, "abc");
    assert_int_equal(visible_copy(out, sizeof out, "ab\x1B", 3, false), 6);
    assert_string_equal(out, "ab\\x1b");
    assert_int_equal(visible_copy(out, sizeof out, "abcde\xC3\xA4", 7, false), 5);
    assert_string_equal(out, "abcde");
}

static void a_message_in_the_log_is_one_line_that_steers_nothing(void **state) {
    (void)state;
    static const char message[] = "registered as worker 1 of u\xC2\x9B"
                                  "31m\r\n2026-01-01 info  forged\x1B[2J\xE2\x80\xAE\t\xFF";
    static const char wanted[] = " info  registered as worker 1 of u\\x9b31m\\x0d\\x0a"
                                 "2026-01-01 info  forged\\x1b[2J\\u202e\\x09\\xff\n";
    int ends[2], terminal = dup(STDERR_FILENO);
    char line[1000];
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    log_info("%s", message);
    dup2(terminal, STDERR_FILENO);
    ssize_t size = read(ends[0], line, sizeof line - 1);
    assert_true(size > (ssize_t)sizeof wanted);
    line[size] = 0;
    assert_string_equal(strchr(strchr(line, ' ') + 1, ' '), wanted);
    close(ends[0]), close(ends[1]), close(terminal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_written_out),
        cmocka_unit_test(characters_that_turn_writing_or_are_not_seen_are_written_out),
        cmocka_unit_test(bytes_that_are_no_utf8_are_written_out),
        cmocka_unit_test(everything_else_stays_as_it_is),
        cmocka_unit_test(lines_stay_lines_where_they_are_wanted),
        cmocka_unit_test(what_does_not_fit_ends_at_a_whole_character),
        cmocka_unit_test(a_message_in_the_log_is_one_line_that_steers_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
