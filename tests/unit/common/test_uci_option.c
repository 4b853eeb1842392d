// The options of a side as text, and whether the list of an engine permits them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "server/common/uci_option.h"

// A list like Stockfish's, and options as engines rarely list them.
static const char list[] = "option name Hash type spin default 16 min 1 max 1024\n"
                           "option name Threads type spin default 1 min 1 max 8\n"
                           "option name Move Overhead type spin default 10 min 0 max 5000\n"
                           "option name Clear Hash type button\n"
                           "option name Ponder type check default false\n"
                           "option name Style type combo default Normal var Solid var Very Risky\n"
                           "option name SyzygyPath type string default <empty>\n"
                           "option name Piece type order type spin default 1 min -5\n"
                           "option name Empty type combo var var a\n"
                           "option name Odd type matrix default 3 max 4\n"
                           "option name Bare\n";

static void options_as_text_are_written_in_one_form(void **state) {
    (void)state;
    static const struct {
        const char *text, *kept;
    } rows[] = {
        {"", ""},
        {"  Hash=16\t A=b ", "Hash=16 A=b"},
        {"\"Move Overhead\"=10", "\"Move Overhead\"=10"},
        {"\"Move Overhead=10\" Hash=1", "\"Move Overhead\"=10 Hash=1"},
        {"Move\" \"Overhead=10", "\"Move Overhead\"=10"},
        {"\"  Move   Overhead \"=\" a  b \"", "\"Move Overhead\"=\"a  b\""},
        {"Path=\"/a b/c=d\"", "Path=\"/a b/c=d\""},
        {"A=b=c", "A=b=c"},
        {"A=\"say \\\"no\\\" to \\\\\"", "A=\"say \\\"no\\\" to \\\\\""},
        {"A=\\x", "A=\\x"},
        {"Net=<empty>", "Net=<empty>"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Str kept scope(str_release);
        str_init(&kept, 1000);
        OptionText at = {.rest = rows[i].text};
        while (option_text_next(&at))
            option_text_add(&kept, at.name, at.value);
        if (at.wrong)
            fail_msg("%s: %s", rows[i].text, at.wrong);
        assert_string_equal(kept.data, rows[i].kept);
    }
}

static void what_is_no_option_is_named(void **state) {
    (void)state;
    char name_of_300[310], longest[110], value_of_1001[1010] = "A=";
    memset(name_of_300, 'x', 300);
    memcpy(name_of_300 + 300, "=1", 3);
    memset(longest, 'x', OPTION_NAME_MAX);
    memcpy(longest + OPTION_NAME_MAX, "=1", 3);
    memset(value_of_1001 + 2, '1', 1001);
    const struct {
        const char *text, *word;
    } rows[] = {
        {"Hash", "Name=value"},
        {"=16", "Name=value"},
        {"Move Overhead=10", "Name=value"},
        {"Hash=", "<empty>"},
        {"Hash=\"\"", "<empty>"},
        {"Hash=\"  \"", "<empty>"},
        {"Hash=\"16", "quote"},
        {"Hash=16\nquit", "line break"},
        {"\"Hash\nquit\"=16", "line break"},
        {"A=b\x7f", "control"},
        {"\"A value b\"=1", "word 'value'"},
        {"Value=1", "word 'value'"},
        {name_of_300, "100 bytes"},
        {value_of_1001, "1000 bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        OptionText at = {.rest = rows[i].text};
        while (option_text_next(&at))
            continue;
        if (!at.wrong || !strstr(at.wrong, rows[i].word))
            fail_msg("'%s' is refused with '%s', not with '%s'", rows[i].text,
                     at.wrong ? at.wrong : "", rows[i].word);
        assert_false(option_text_next(&at));
    }
    OptionText at = {.rest = longest};
    assert_true(option_text_next(&at));
    at = (OptionText){.rest = "Values=1"};
    assert_true(option_text_next(&at));
}

static void a_value_must_fit_its_option(void **state) {
    (void)state;
    static const struct {
        const char *options, *message; // "": it fits
    } rows[] = {
        {"Hash=1 hash=1024 HASH=64", ""},
        {"Hash=0", "Hash cannot have the value '0': it is a whole number from 1 to 1024"},
        {"Hash=1025", "from 1 to 1024"},
        {"Hash=99999999999999999999", "from 1 to 1024"},
        {"Hash=16.5", "from 1 to 1024"},
        {"Hash=16x", "from 1 to 1024"},
        {"\"move overhead\"=5000", ""},
        {"\"Move Overhead\"=5001", "Move Overhead cannot have the value '5001'"},
        {"\"Clear Hash\"=1", "button"},
        {"Ponder=true ponder=false", ""},
        {"Ponder=True", "true or false"},
        {"Ponder=1", "true or false"},
        {"Style=Solid style=\"very risky\"", ""},
        {"Style=Very", "its choices are Solid, Very Risky"},
        {"Style=\"Solid var Very Risky\"", "its choices are"},
        {"SyzygyPath=\"/any thing\" SyzygyPath=<empty>", ""},
        {"\"Piece type order\"=-5 \"Piece type order\"=99", ""},
        {"\"Piece type order\"=-6", "a whole number from -5"},
        {"Empty=a", ""},
        {"Empty=b", "its choices are"},
        {"Odd=9 Bare=x", ""},
        {"Hsh=1", "has no option Hsh; its nearest options are Hash, "},
        {"MoveOverhead=1", "its nearest options are Move Overhead, "},
        {"\"Clear Hsh\"=1", "has no option Clear Hsh; its nearest options are"},
        {"Movee=1", "has no option Movee"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Error err = {0};
        bool fits = uci_list_fits_text(list, rows[i].options, &err);
        if (fits != !*rows[i].message || !strstr(err.message, rows[i].message))
            fail_msg("%s: '%s' and not '%s'", rows[i].options, err.message, rows[i].message);
        assert_true(fits || err.status == 422);
    }
}

static void a_name_listed_twice_permits_both(void **state) {
    (void)state;
    Error err;
    static const char twice[] = "option name A type spin min 1 max 2\n"
                                "option name a type spin min 8 max 9\n";
    assert_true(uci_list_fits(twice, "A", "2", &err) && uci_list_fits(twice, "A", "9", &err));
    assert_false(uci_list_fits(twice, "A", "5", &err));
}

static void what_a_test_sets_by_itself_needs_an_option_only_if_it_is_unusual(void **state) {
    (void)state;
    Error err;
    static const char none[] = "", small[] = "option name Hash type spin min 32 max 64\n";
    assert_true(uci_list_fits_game(none, 1, false, &err));
    assert_true(uci_list_fits_text(none, "Hash=16", &err));
    assert_false(uci_list_fits_text(none, "Hash=64", &err));
    assert_non_null(strstr(err.message, "lists no options, so Hash cannot be set"));
    assert_false(uci_list_fits_text(none, "Hash=x", &err));
    assert_false(uci_list_fits_text(small, "Hash=16", &err));
    assert_false(uci_list_fits_game(none, 2, false, &err));
    assert_false(uci_list_fits_game(none, 1, true, &err));
    assert_non_null(strstr(err.message, "UCI_Chess960"));
    assert_true(uci_list_fits_game(list, 8, false, &err));
    assert_false(uci_list_fits_game(list, 9, false, &err));
    assert_true(
        uci_list_fits_game("option name UCI_Chess960 type check default false\n", 1, true, &err));
}

static Str listed(const char *lines) {
    Str out;
    str_init(&out, UCI_LIST_BYTES_MAX);
    for (const char *line = lines; *line;) {
        size_t size = strcspn(line, "\n");
        assert_true(uci_list_add(&out, line, size));
        line += size + (line[size] == '\n');
    }
    return out;
}

static void a_list_holds_the_lines_that_are_options_as_clean_text(void **state) {
    (void)state;
    Error err;
    Str out scope(str_release) =
        listed("id name X\n option name\tHash type spin \r\ninfo string option name A\n"
               "option name \xff type check\noption\noption name\nuciok\n");
    assert_string_equal(out.data,
                        "option name Hash type spin\noption name \xef\xbf\xbd type check\n");
    assert_true(uci_list_check(out.data, &err));
}

static void a_list_has_limits(void **state) {
    (void)state;
    Error err;
    char line[UCI_LIST_LINE_MAX + 100], name[64];
    Str out scope(str_release);
    str_init(&out, UCI_LIST_BYTES_MAX);
    int count = 0;
    do
        snprintf(name, sizeof name, "option name Nonsense%d type string", count);
    while (uci_list_add(&out, name, strlen(name)) && ++count < 100000);
    assert_int_equal(count, UCI_LIST_LINES_MAX);
    assert_true(uci_list_check(out.data, &err));
    str_clear(&out);
    snprintf(line, sizeof line, "option name A type combo");
    for (size_t n = strlen(line); n + 10 < sizeof line; n = strlen(line))
        snprintf(line + n, sizeof line - n, " var %zu", n);
    for (count = 0; uci_list_add(&out, line, strlen(line)); count++)
        assert_true(count < 100);
    assert_int_equal(count, UCI_LIST_BYTES_MAX / (UCI_LIST_LINE_MAX + 1));
    assert_false(out.overflow);
    assert_true(uci_list_check(out.data, &err));
}

static void a_text_from_outside_must_be_a_list(void **state) {
    (void)state;
    Error err;
    static const char *const bad[] = {
        "option name A type check",      "x\n", "option name A\n\n", "option name \x01\n",
        "option name \xff type check\n", "\n",  "options\n",         "option\tname A\n",
        "option name A\nuciok\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (uci_list_check(bad[i], &err))
            fail_msg("accepted: %s", bad[i]);
    Str big scope(str_release);
    str_init(&big, 1 << 20);
    for (int i = 0; i < UCI_LIST_LINES_MAX; i++)
        str_puts(&big, "option name A\n");
    assert_true(uci_list_check(big.data, &err));
    str_puts(&big, "option name A\n");
    assert_false(uci_list_check(big.data, &err));
    assert_string_equal(err.field, "options");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_as_text_are_written_in_one_form),
        cmocka_unit_test(what_is_no_option_is_named),
        cmocka_unit_test(a_value_must_fit_its_option),
        cmocka_unit_test(a_name_listed_twice_permits_both),
        cmocka_unit_test(what_a_test_sets_by_itself_needs_an_option_only_if_it_is_unusual),
        cmocka_unit_test(a_list_holds_the_lines_that_are_options_as_clean_text),
        cmocka_unit_test(a_list_has_limits),
        cmocka_unit_test(a_text_from_outside_must_be_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
