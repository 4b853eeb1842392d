// Lines of a diff as approvers see them: nothing invisible, and no byte lost.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/common/str.h"
#include "server/common/visible.h"
#include "server/patch/reaches.h"
#include "server/patch/shown.h"

static void drop(ShownLine *line) {
    json_decref(line->text);
    json_decref(line->parts);
}

// The bytes that the parts stand for.
static void add_bytes(const ShownLine *line, Str *out) {
    const json_t *part;
    size_t i;
    if (json_is_null(line->parts))
        str_add(out, json_string_value(line->text), json_string_length(line->text));
    json_array_foreach (line->parts, i, part) {
        const json_t *text = json_object_get(part, "text");
        const char *hex = json_string_value(json_object_get(part, "hex"));
        if (!hex)
            str_add(out, json_string_value(text), json_string_length(text));
        for (; hex && *hex; hex += 2) {
            char pair[] = {hex[0], hex[1], 0};
            str_putc(out, (char)strtol(pair, NULL, 16));
        }
    }
}

static void keeps_every_byte(const char *bytes, size_t size) {
    ShownLine line scope(drop) = shown_line(bytes, size);
    Str back scope(str_release), seen scope(str_release);
    str_init(&back, size + 1);
    str_init(&seen, 12 * size + 1);
    add_bytes(&line, &back);
    assert_int_equal(back.size, size);
    if (size)
        assert_memory_equal(back.data, bytes, size);
    const char *text = json_string_value(line.text);
    visible_add(&seen, text, strlen(text), true);
    assert_string_equal(size ? seen.data : "", text); // what is shown is visible already
}

static void the_parts_of_any_line_are_its_bytes(void **state) {
    (void)state;
    static const char *const pieces[] = {
        "a",        " ",        "\r",           "\t",          "\xff",
        "\xc3\xa9", "\xc2\x9b", "\xe2\x80\xae", "\xc3",        "\xf0\x9f\x98\x80",
        "\\u202e",  "\x1b[2K",  "\xe3\x80\x80", "\xed\xa0\x80"};
    uint64_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        char line[200];
        size_t size = 0;
        for (int left = (seed >> 40) % 9; left > 0; left--) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const char *piece = pieces[(seed >> 33) % (sizeof pieces / sizeof *pieces)];
            memcpy(line + size, piece, strlen(piece));
            size += strlen(piece);
            if ((seed >> 50) % 16 == 0)
                line[size++] = 0;
        }
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        keeps_every_byte(line, size);
    }
}

static void what_is_not_seen_as_it_is_counts_as_hidden(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *text;
        bool hidden;
    } cases[] = {
        {"int x;", "int x;", false},
        {"\tint x;\r", "\tint x;\\x0d", false}, // a file with CRLF
        {"int x;\rint y;", "int x;\\x0dint y;", true},
        {"caf\xc3\xa9", "caf\xc3\xa9", false},
        {"caf\xe9", "caf\\xe9", true},
        {"a\xe2\x80\xae"
         "b",
         "a\\u202eb", true},
        {"a\xe2\x80\x8b"
         "b",
         "a\\u200bb", true},
        {"a\xc2\xa0"
         "b",
         "a\\u00a0b", true},
        {"a\xf3\xa0\x81\x81", "a\\U000e0041", true},
        {"\f", "\\x0c", true},
        {"\\u202e", "\\u202e", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ShownLine line scope(drop) = shown_line(cases[i].bytes, strlen(cases[i].bytes));
        assert_string_equal(json_string_value(line.text), cases[i].text);
        assert_int_equal(line.hidden, cases[i].hidden);
        keeps_every_byte(cases[i].bytes, strlen(cases[i].bytes));
    }
}

static void a_line_over_500_bytes_is_long_and_whole(void **state) {
    (void)state;
    char text[3000];
    memset(text, 'x', sizeof text);
    ShownLine line scope(drop) = shown_line(text, SHOWN_LONG);
    assert_false(line.is_long);
    ShownLine longer scope(drop) = shown_line(text, sizeof text);
    assert_true(longer.is_long);
    assert_int_equal(json_string_length(longer.text), sizeof text);
}

static void a_line_that_reaches_out_of_the_program_is_known_by_its_names(void **state) {
    (void)state;
    static const char *const reach[] = {"socket(1, 2, 3);",     "    if (fork () == 0)",
                                        "x=open(p, 0)",         "FILE *f = std::fopen(name)",
                                        "__asm__(\".incbin\")", "  .incbin \"/etc/passwd\"",
                                        "#embed <x>",           "#include \"/etc/passwd\"",
                                        "std::ifstream in(x);"};
    static const char *const stay[] = {
        "",          "my_system(1)",          "systems(2)", "fork = 3;", "// open the file",
        "reopen(x)", "#include \"search.h\"", "kill",       "(system"};
    for (size_t i = 0; i < sizeof reach / sizeof *reach; i++)
        if (!line_reaches_out(reach[i], strlen(reach[i])))
            fail_msg("%s", reach[i]);
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        if (line_reaches_out(stay[i], strlen(stay[i])))
            fail_msg("%s", stay[i]);
    assert_false(line_reaches_out("socket(", strlen("socket"))); // no byte beyond the line is read
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parts_of_any_line_are_its_bytes),
        cmocka_unit_test(what_is_not_seen_as_it_is_counts_as_hidden),
        cmocka_unit_test(a_line_over_500_bytes_is_long_and_whole),
        cmocka_unit_test(a_line_that_reaches_out_of_the_program_is_known_by_its_names),
    };
    return cmocka_run_group_tests_name("patch_shown", tests, NULL, NULL);
}
