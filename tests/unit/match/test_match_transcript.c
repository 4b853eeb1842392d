// The last words of an engine (worker/uci/transcript.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "worker/uci/transcript.h"

static Tail tail;

static char *printed(int64_t start_ns) {
    Str out;
    str_init(&out, 1 << 20);
    transcript_print(&tail, start_ns, &out);
    assert_false(out.overflow);
    return str_steal(&out);
}

static void add(char mark, const char *text, int64_t at_ms) {
    transcript_add(&tail, mark, text, strlen(text), at_ms * 1000000);
}

static void lines_stand_in_order_with_the_seconds_since_the_game_began(void **state) {
    (void)state;
    tail_clear(&tail);
    add('>', "go depth 5", 5000);
    add('<', "bestmove e2e4\r", 5012);
    add('*', "White disconnects", 17345);
    scope(free_ptr) char *text = printed(5000000000);
    assert_string_equal(text, "    0.000 > go depth 5\n"
                              "    0.012 < bestmove e2e4\r\n"
                              "   12.345 * White disconnects\n");
}

static void of_a_long_line_the_middle_is_left_out(void **state) {
    (void)state;
    scope(str_release) Str line;
    str_init(&line, 1 << 16);
    str_puts(&line, "position startpos moves");
    for (int i = 0; i < 2000; i++)
        str_puts(&line, " g1f3");
    str_puts(&line, " a7a8q");
    tail_clear(&tail);
    transcript_add(&tail, '>', line.data, line.size, 0);
    scope(free_ptr) char *text = printed(0);
    assert_int_equal(strlen(text), strlen("    0.000 > \n") + TRANSCRIPT_LINE_MAX);
    assert_non_null(strstr(text, "> position startpos moves g1f3"));
    assert_non_null(strstr(text, " ... "));
    assert_non_null(strstr(text, "g1f3 a7a8q\n"));
}

static void the_last_lines_are_there_however_many_were_said(void **state) {
    (void)state;
    char line[32];
    tail_clear(&tail);
    for (int i = 0; i < 10000; i++) {
        snprintf(line, sizeof line, "info depth %d", i);
        add('<', line, i);
    }
    scope(free_ptr) char *text = printed(0);
    size_t lines = 0;
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        lines++;
    assert_in_range(lines, 200, 2000);
    snprintf(line, sizeof line, "info depth %d\n", 10000 - (int)lines);
    assert_ptr_equal(strstr(text, line), strchr(text, '<') + 2);
    assert_non_null(strstr(text, "9.999 < info depth 9999\n"));
}

static void every_byte_that_was_said_is_kept(void **state) {
    (void)state;
    tail_clear(&tail);
    transcript_add(&tail, '<', "a\0b\x1b[31m\xff\tc", 11, 0);
    scope(free_ptr) char *text = printed(0);
    assert_string_equal(text, "    0.000 < a\xF4\x8F\xBC\x80"
                              "b\x1b[31m\xF4\x8F\xBF\xBF\tc\n");
}

// Pieces of every size, so that each way of passing the middle is taken.
static void the_tail_of_a_stream_is_its_last_bytes(void **state) {
    (void)state;
    for (size_t piece = 1; piece <= 3 * TAIL_HALF; piece = piece * 5 / 2 + 1) {
        char bytes[3 * TAIL_HALF];
        tail_clear(&tail);
        for (size_t at = 0; at < 5 * TAIL_HALF; at += piece) {
            for (size_t i = 0; i < piece; i++)
                bytes[i] = (char)('a' + (at + i) % 23);
            tail_add(&tail, bytes, piece);
        }
        size_t size = (5 * TAIL_HALF + piece - 1) / piece * piece;
        scope(str_release) Str out;
        str_init(&out, 1 << 20);
        tail_print(&tail, &out);
        assert_int_equal(out.size, TAIL_HALF);
        for (size_t i = 0; i < TAIL_HALF; i++)
            assert_int_equal(out.data[i], 'a' + (size - TAIL_HALF + i) % 23);
    }
}

static void a_short_stream_is_kept_whole(void **state) {
    (void)state;
    scope(str_release) Str out;
    str_init(&out, 1 << 20);
    tail_clear(&tail);
    tail_print(&tail, &out);
    assert_string_equal(out.data, "");
    tail_add(&tail, "assertion failed\n", 17);
    tail_add(&tail, "\x01 at line 3\n", 12);
    tail_print(&tail, &out);
    assert_string_equal(out.data, "assertion failed\n\x01 at line 3\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_stand_in_order_with_the_seconds_since_the_game_began),
        cmocka_unit_test(of_a_long_line_the_middle_is_left_out),
        cmocka_unit_test(the_last_lines_are_there_however_many_were_said),
        cmocka_unit_test(every_byte_that_was_said_is_kept),
        cmocka_unit_test(the_tail_of_a_stream_is_its_last_bytes),
        cmocka_unit_test(a_short_stream_is_kept_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
