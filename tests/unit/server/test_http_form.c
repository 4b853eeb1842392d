// Percent-encoding, urlencoded and multipart forms: what browsers send, and what only an attacker
// would.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "server/http/form.h"

#define TYPE "multipart/form-data; boundary=XX"

static Error err;

static void free_decoded(char **text) {
    free(*text);
}

static void decodes_to(const char *text, bool form, const char *wanted) {
    size_t size;
    char *got __attribute__((cleanup(free_decoded))) =
        percent_decode(text, strlen(text), form, &size);
    if (!wanted) {
        assert_null(got);
        return;
    }
    assert_non_null(got);
    assert_string_equal(got, wanted);
    assert_int_equal(size, strlen(wanted));
}

static void escapes_are_undone(void **state) {
    (void)state;
    decodes_to("a%20b%2Fc", false, "a b/c");
    decodes_to("a+b", true, "a b");
    decodes_to("a+b", false, "a+b");
    decodes_to("%c3%A4", false, "ä");
    decodes_to("", false, "");
}

static void broken_escapes_and_bad_text_are_refused(void **state) {
    (void)state;
    const char *const bad[] = {"%",   "%4",     "%zz",       "a%0",          "%00",    "%ff",
                               "%c3", "%c0%80", "%ed%a0%80", "%f4%90%80%80", "%e2%82", "\xc3("};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        decodes_to(bad[i], false, NULL);
}

static void a_urlencoded_form_keeps_order_and_the_first_of_a_name(void **state) {
    (void)state;
    Params form = {0};
    const char *text = "a=1&b=x%26y&&a=2&empty=&bare";
    assert_true(form_urlencoded(text, strlen(text), &form, &err));
    assert_int_equal(form.count, 5);
    assert_string_equal(params_find(&form, "a")->value, "1");
    assert_string_equal(params_find(&form, "b")->value, "x&y");
    assert_string_equal(params_find(&form, "empty")->value, "");
    assert_string_equal(params_find(&form, "bare")->value, "");
    assert_null(params_find(&form, "c"));
    params_release(&form);
}

static void a_form_of_endless_fields_is_refused(void **state) {
    (void)state;
    Params form = {0};
    char text[2 * FORM_FIELDS_MAX + 4];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 ? '&' : 'a';
    assert_false(form_urlencoded(text, sizeof text, &form, &err));
    assert_int_equal(err.status, 400);
    params_release(&form);
}

static void a_multipart_form_gives_fields_and_files(void **state) {
    (void)state;
    static const char text[] =
        "preamble\r\n--XX\r\nContent-Disposition: form-data; name=\"title\"\r\n"
        "\r\none\r\ntwo\r\n--XX  \r\nContent-Type: text/plain\r\n"
        "content-disposition: form-data; filename=\"p.diff\"; name=patch\r\n"
        "\r\na\0b\xff\r\n--X\r\n--XX\r\n"
        "Content-Disposition: form-data; name=\"none\"\r\n\r\n\r\n--XX--\r\n";
    Params form = {0};
    assert_true(form_multipart(text, sizeof text - 1, TYPE, &form, &err));
    assert_string_equal(params_find(&form, "title")->value, "one\r\ntwo");
    assert_int_equal(params_find(&form, "patch")->size, 9);
    assert_memory_equal(params_find(&form, "patch")->value, "a\0b\xff\r\n--X", 9);
    assert_string_equal(params_find(&form, "patch.filename")->value, "p.diff");
    assert_string_equal(params_find(&form, "none")->value, "");
    params_release(&form);
}

static void an_empty_multipart_form_is_a_form(void **state) {
    (void)state;
    Params form = {0};
    assert_true(form_multipart("--XX--\r\n", 8, TYPE, &form, &err));
    assert_int_equal(form.count, 0);
    params_release(&form);
}

static void broken_multipart_forms_are_refused(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"multipart/form-data", "--XX--"},
        {"multipart/form-data; boundary=", "--XX--"},
        {TYPE, ""},
        {TYPE, "--XY--"},
        {TYPE, "--XX"},
        {TYPE, "--XX\r\n"},
        {TYPE, "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nvalue"},
        {TYPE, "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n--XX--"},
        {TYPE, "--XX\r\nContent-Disposition: form-data\r\n\r\nvalue\r\n--XX--"},
        {TYPE, "--XX\r\nX: y\r\n\r\nvalue\r\n--XX--"},
        {TYPE, "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\xff\r\n--XX--"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Params form = {0};
        if (form_multipart(bad[i][1], strlen(bad[i][1]), bad[i][0], &form, &err))
            fail_msg("case %zu was taken", i);
        assert_int_equal(err.status, 400);
        params_release(&form);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_are_undone),
        cmocka_unit_test(broken_escapes_and_bad_text_are_refused),
        cmocka_unit_test(a_urlencoded_form_keeps_order_and_the_first_of_a_name),
        cmocka_unit_test(a_form_of_endless_fields_is_refused),
        cmocka_unit_test(a_multipart_form_gives_fields_and_files),
        cmocka_unit_test(an_empty_multipart_form_is_a_form),
        cmocka_unit_test(broken_multipart_forms_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
