// Who wrote a patch and what the author says of it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/common/file.h"
#include "server/patch/patch.h"

static const char diff[] = "---\n a.c | 2 +-\n\ndiff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n"
                           "@@ -1 +1 @@\n-a\n+b\n-- \n2.39.5\n\n";

static void parse(const char *head, Patch *patch) {
    Error err;
    char *text scope(free_ptr) = xasprintf("%s%s", head, diff);
    if (!patch_parse(text, strlen(text), patch, &err))
        fail_msg("%s", err.message);
}

static void both_mails_of_a_series_keep_author_date_and_message(void **state) {
    (void)state;
    Error err;
    size_t size;
    char *text scope(free_ptr) =
        file_read("tests/data/patches/mails/input.patch", 1 << 20, &size, &err);
    assert_non_null(text);
    Patch patch scope(patch_release) = {0};
    assert_true(patch_parse(text, size, &patch, &err));
    assert_int_equal(patch.mail_count, 2);
    assert_string_equal(patch.mails[0].author, "Jürgen Müller");
    assert_string_equal(patch.mails[0].email, "jm@example.org");
    assert_string_equal(patch.mails[0].message,
                        "Reduce later in the tree than before, because für kurze Suchen it pays\n\n"
                        "It was too early.\n\nBench: 1111111\n");
    assert_true(patch.mails[0].authored == 1772359200);
    assert_int_equal(patch.mails[0].offset_minutes, 120);
    assert_string_equal(patch.mails[1].message, "Add one\n\nBench: 2222222\n");
    assert_int_equal(patch.mails[1].file_count, 2);
}

static void a_mail_saved_without_its_first_line_is_read_too(void **state) {
    (void)state;
    Patch patch scope(patch_release) = {0};
    parse("From: Ada <ada@example.org>\nSubject: Re: [PATCH v2] [x] Do it\n\nWhy.\n", &patch);
    assert_string_equal(patch.mails[0].author, "Ada");
    assert_string_equal(patch.mails[0].message, "Do it\n\nWhy.\n");
}

static void an_author_in_the_body_is_the_author(void **state) {
    (void)state;
    Patch patch scope(patch_release) = {0};
    parse("From: Bot <bot@example.org>\nSubject: Do it\n\nFrom: Ada <ada@example.org>\n\nWhy.\n",
          &patch);
    assert_string_equal(patch.mails[0].author, "Ada");
    assert_string_equal(patch.mails[0].message, "Do it\n\nWhy.\n");
}

static void words_in_base_64_are_decoded_and_broken_bytes_are_marked(void **state) {
    (void)state;
    Patch patch scope(patch_release) = {0};
    parse("From: =?utf-8?B?SsO8cmdlbg==?= <j@example.org>\nSubject: a\xff z\n\n", &patch);
    assert_string_equal(patch.mails[0].author, "Jürgen");
    assert_string_equal(patch.mails[0].message, "a\xef\xbf\xbd z\n");
}

static void a_cover_letter_is_no_commit(void **state) {
    (void)state;
    Patch patch scope(patch_release) = {0};
    char *head scope(free_ptr) = xasprintf(
        "From %040d Mon Sep 17 00:00:00 2001\nFrom: Ada <a@x>\nSubject: [PATCH 0/1] "
        "All\n\nHello\n\n"
        "From %040d Mon Sep 17 00:00:00 2001\nFrom: Ada <a@x>\nSubject: [PATCH 1/1] One\n\n",
        1, 2);
    parse(head, &patch);
    assert_int_equal(patch.mail_count, 1);
    assert_string_equal(patch.mails[0].message, "One\n");
}

static void a_bare_diff_has_no_author(void **state) {
    (void)state;
    Patch patch scope(patch_release) = {0};
    parse("Some words before.\n", &patch);
    assert_null(patch.mails[0].author);
    assert_null(patch.mails[0].message);
}

static void over_a_megabyte_is_too_large(void **state) {
    (void)state;
    Error err;
    Patch patch;
    size_t size = PATCH_BYTES_MAX + 1;
    char *text scope(free_ptr) = xcalloc(1, size);
    memset(text, 'x', size);
    assert_false(patch_parse(text, size, &patch, &err));
    assert_int_equal(err.status, 413);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_mails_of_a_series_keep_author_date_and_message),
        cmocka_unit_test(a_mail_saved_without_its_first_line_is_read_too),
        cmocka_unit_test(an_author_in_the_body_is_the_author),
        cmocka_unit_test(words_in_base_64_are_decoded_and_broken_bytes_are_marked),
        cmocka_unit_test(a_cover_letter_is_no_commit),
        cmocka_unit_test(a_bare_diff_has_no_author),
        cmocka_unit_test(over_a_megabyte_is_too_large),
    };
    return cmocka_run_group_tests_name("patch_mail", tests, NULL, NULL);
}
