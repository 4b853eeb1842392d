// Mustache against its specification, module by module. The cases are our own; a template, a
// document and partials in, a text out.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/pages/mustache.h"

typedef struct Case {
    const char *about, *template, *data, *expected, *partials;
} Case;

static char *render(const Case *c, MustacheFormat *format) {
    Error err;
    Str out;
    Mustache *set = mustache_new(format, NULL);
    json_t *data = json_loads(c->data, JSON_DECODE_ANY, NULL);
    json_t *partials = json_loads(c->partials ? c->partials : "{}", 0, NULL), *text;
    const char *name;
    assert_non_null(data);
    assert_non_null(partials);
    if (!mustache_add(set, "main", c->template, &err))
        fail_msg("%s: %s", c->about, err.message);
    json_object_foreach (partials, name, text)
        assert_true(mustache_add(set, name, json_string_value(text), &err));
    str_init(&out, 1 << 20);
    if (!mustache_render(set, "main", data, &out, &err))
        fail_msg("%s: %s", c->about, err.message);
    json_decref(data);
    json_decref(partials);
    mustache_free(set);
    return str_steal(&out);
}

static void check(const Case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char *got = render(&cases[i], NULL);
        if (strcmp(got, cases[i].expected))
            fail_msg("%s: got \"%s\", wanted \"%s\"", cases[i].about, got, cases[i].expected);
        free(got);
    }
}
#define CHECK(cases) check(cases, sizeof cases / sizeof *cases)

static void comments_leave_nothing(void **state) {
    static const Case cases[] = {
        {"inline", "a{{! nothing }}b", "{}", "ab", NULL},
        {"several lines", "a{{!\n one\n two\n}}b\n", "{}", "ab\n", NULL},
        {"alone on its line", "one\n{{! gone }}\ntwo\n", "{}", "one\ntwo\n", NULL},
        {"alone and indented", "one\n  {{! gone }}\ntwo\n", "{}", "one\ntwo\n", NULL},
        {"alone with CRLF", "|\r\n{{! gone }}\r\n|", "{}", "|\r\n|", NULL},
        {"alone, first and last", "  {{! gone }}", "{}", "", NULL},
        {"many lines, alone", "one\n  {{!\n gone\n  }}\ntwo\n", "{}", "one\ntwo\n", NULL},
        {"not alone", "  x {{! gone }}\n", "{}", "  x \n", NULL},
        {"blanks around", "12 {{! gone }} 34", "{}", "12  34", NULL},
        {"named like a variable", "({{! n }}{{!n}})", "{\"n\": 1}", "()", NULL},
    };
    (void)state;
    CHECK(cases);
}

static void variables_are_found_and_escaped(void **state) {
    static const Case cases[] = {
        {"no tag", "just { text }\n", "{}", "just { text }\n", NULL},
        {"text", "hello {{who}}!", "{\"who\": \"you\"}", "hello you!", NULL},
        {"escaping", "{{s}}", "{\"s\": \"& \\\" < > '\"}", "&amp; &quot; &lt; &gt; &#39;", NULL},
        {"three braces", "{{{s}}}", "{\"s\": \"& \\\" < >\"}", "& \" < >", NULL},
        {"ampersand", "{{&s}} {{& s }}", "{\"s\": \"<b>\"}", "<b> <b>", NULL},
        {"whole number", "{{n}} {{{n}}} {{&n}}", "{\"n\": 85}", "85 85 85", NULL},
        {"decimal", "{{n}}", "{\"n\": 1.5}", "1.5", NULL},
        {"null", "[{{n}}{{{n}}}{{&n}}]", "{\"n\": null}", "[]", NULL},
        {"missing", "[{{n}}{{{n}}}{{&n}}]", "{}", "[]", NULL},
        {"dotted", "{{a.b}} {{{a.b}}} {{&a.b}}", "{\"a\": {\"b\": \"x\"}}", "x x x", NULL},
        {"deep", "{{a.b.c.d}}", "{\"a\": {\"b\": {\"c\": {\"d\": 7}}}}", "7", NULL},
        {"broken chain", "[{{a.b.c}}]", "{\"a\": {}}", "[]", NULL},
        {"chain of text", "[{{a.b}}]", "{\"a\": \"text\"}", "[]", NULL},
        {"first part decides", "{{#a}}{{b.c}}{{/a}}|",
         "{\"a\": {\"b\": {}}, \"b\": {\"c\": \"wrong\"}}", "|", NULL},
        {"later parts only below", "[{{a.b}}]", "{\"a\": {}, \"b\": \"wrong\"}", "[]", NULL},
        {"the thing itself", "{{.}}", "\"x & y\"", "x &amp; y", NULL},
        {"the thing itself, raw", "{{{.}}}", "\"x & y\"", "x & y", NULL},
        {"blanks outside", "| {{s}} |", "{\"s\": \"-\"}", "| - |", NULL},
        {"blanks inside", "|{{ s }}|{{{ s }}}|{{& s }}|", "{\"s\": \"-\"}", "|-|-|-|", NULL},
        {"a line of its own is kept", "  {{s}}\n", "{\"s\": \"-\"}", "  -\n", NULL},
        {"no second round", "{{s}}: {{t}}", "{\"s\": \"{{t}}\", \"t\": \"x\"}", "{{t}}: x", NULL},
    };
    (void)state;
    CHECK(cases);
}

static void sections_repeat_enter_and_skip(void **state) {
    static const Case cases[] = {
        {"true", "\"{{#b}}shown{{/b}}\"", "{\"b\": true}", "\"shown\"", NULL},
        {"false", "\"{{#b}}shown{{/b}}\"", "{\"b\": false}", "\"\"", NULL},
        {"null", "\"{{#b}}shown{{/b}}\"", "{\"b\": null}", "\"\"", NULL},
        {"missing", "\"{{#b}}shown{{/b}}\"", "{}", "\"\"", NULL},
        {"empty text", "\"{{#b}}shown{{/b}}\"", "{\"b\": \"\"}", "\"\"", NULL},
        {"zero", "\"{{#b}}shown{{/b}}\"", "{\"b\": 0}", "\"\"", NULL},
        {"object", "{{#o}}hi {{name}}{{/o}}", "{\"o\": {\"name\": \"Joe\"}}", "hi Joe", NULL},
        {"outer names", "{{#o}}{{a}}{{b}}{{c.d}}{{/o}}",
         "{\"a\": 1, \"b\": 2, \"o\": {\"b\": 3}, \"c\": {\"d\": 4}}", "134", NULL},
        {"text becomes the thing", "{{#s}}<{{.}}>{{/s}}", "{\"s\": \"x\"}", "<x>", NULL},
        {"list", "{{#l}}{{n}},{{/l}}", "{\"l\": [{\"n\": 1}, {\"n\": 2}]}", "1,2,", NULL},
        {"empty list", "[{{#l}}x{{/l}}]", "{\"l\": []}", "[]", NULL},
        {"list of things", "{{#l}}({{.}}){{/l}}", "{\"l\": [\"a\", 1, 0, 2.5]}", "(a)(1)(0)(2.5)",
         NULL},
        {"list of lists", "{{#l}}({{#.}}{{.}}{{/.}}){{/l}}", "{\"l\": [[1, 2], [\"a\"]]}",
         "(12)(a)", NULL},
        {"nested, same name twice", "{{#b}}1 {{#b}}2{{/b}} 3{{/b}}", "{\"b\": true}", "1 2 3",
         NULL},
        {"nested false", "[{{#a}}b{{#c}}d{{/c}}e{{/a}}]", "{\"a\": true, \"c\": false}", "[be]",
         NULL},
        {"dotted", "{{#a.b.c}}here{{/a.b.c}}", "{\"a\": {\"b\": {\"c\": true}}}", "here", NULL},
        {"dotted, broken", "[{{#a.b.c}}here{{/a.b.c}}]", "{\"a\": {}}", "[]", NULL},
        {"depth",
         "{{#a}}{{one}}{{#b}}{{one}}{{two}}{{#c}}{{one}}{{two}}{{three}}{{/c}}{{/b}}{{/a}}",
         "{\"a\": {\"one\": 1}, \"b\": {\"two\": 2}, \"c\": {\"three\": 3}}", "112123", NULL},
        {"blanks around stay", " {{#b}}\t{{/b}} |\n", "{\"b\": true}", " \t |\n", NULL},
        {"alone on their lines", "|\n{{#b}}\n|\n{{/b}}\n|\n", "{\"b\": true}", "|\n|\n|\n", NULL},
        {"alone and indented", "|\n  {{#b}}\n|\n  {{/b}}\n|\n", "{\"b\": true}", "|\n|\n|\n", NULL},
        {"alone with CRLF", "|\r\n{{#b}}\r\n{{/b}}\r\n|", "{\"b\": true}", "|\r\n|", NULL},
        {"alone at the start", "  {{#b}}\n#{{/b}}\n/", "{\"b\": true}", "#\n/", NULL},
        {"alone at the end", "#{{#b}}\n/\n  {{/b}}", "{\"b\": true}", "#\n/\n", NULL},
        {"two on a line", "{{#b}}{{/b}}\n", "{\"b\": true}", "\n", NULL},
        {"blanks inside", "|{{# b }}={{/ b }}|", "{\"b\": true}", "|=|", NULL},
    };
    (void)state;
    CHECK(cases);
}

static void inverted_sections_show_what_is_not(void **state) {
    static const Case cases[] = {
        {"false", "{{^b}}shown{{/b}}", "{\"b\": false}", "shown", NULL},
        {"true", "[{{^b}}shown{{/b}}]", "{\"b\": true}", "[]", NULL},
        {"null", "{{^b}}shown{{/b}}", "{\"b\": null}", "shown", NULL},
        {"object", "[{{^o}}shown{{/o}}]", "{\"o\": {}}", "[]", NULL},
        {"list", "[{{^l}}shown{{/l}}]", "{\"l\": [1]}", "[]", NULL},
        {"empty list", "{{^l}}shown{{/l}}", "{\"l\": []}", "shown", NULL},
        {"missing", "{{^x}}shown{{/x}}", "{}", "shown", NULL},
        {"dotted", "{{^a.b}}shown{{/a.b}}", "{\"a\": {}}", "shown", NULL},
        {"twice", "{{^b}}1{{/b}} {{t}} {{^b}}2{{/b}}", "{\"b\": false, \"t\": \"x\"}", "1 x 2",
         NULL},
        {"nested", "|A {{^b}}B {{^b}}C{{/b}} D{{/b}} E|", "{\"b\": true}", "|A  E|", NULL},
        {"alone on its line", "|\n{{^b}}\n|\n{{/b}}\n|\n", "{\"b\": false}", "|\n|\n|\n", NULL},
        {"alone at the end", "^{{^b}}\n/\n  {{/b}}", "{\"b\": false}", "^\n/\n", NULL},
    };
    (void)state;
    CHECK(cases);
}

static void delimiters_can_be_changed(void **state) {
    static const Case cases[] = {
        {"pair", "{{=<% %>=}}(<%s%>)", "{\"s\": \"x\"}", "(x)", NULL},
        {"special letters", "({{=[ ]=}}[s])", "{\"s\": \"x\"}", "(x)", NULL},
        {"in sections", "{{#b}}{{s}}|s|{{/b}}{{= | | =}}|#b|{{s}}|s||/b|",
         "{\"b\": true, \"s\": \"x\"}", "x|s|{{s}}x", NULL},
        {"partials keep their own", "{{>p}} {{= | | =}}|>p|", "{\"s\": \"x\"}", ".x. .x.",
         "{\"p\": \".{{s}}.\"}"},
        {"nothing leaks out of a partial", "{{>p}} .{{s}}. .|s|.", "{\"s\": \"x\"}",
         ".x. .x. .|s|.", "{\"p\": \"{{= | | =}}.|s|.\"}"},
        {"blanks around stay", "| {{=@ @=}} |", "{}", "|  |", NULL},
        {"alone on its line", "a\n{{=@ @=}}\nb\n", "{}", "a\nb\n", NULL},
        {"alone with CRLF", "|\r\n{{= @ @ =}}\r\n|", "{}", "|\r\n|", NULL},
        {"blanks inside", "|{{= @   @ =}}|", "{}", "||", NULL},
    };
    (void)state;
    CHECK(cases);
}

static void partials_are_put_in(void **state) {
    static const Case cases[] = {
        {"one", "\"{{>t}}\"", "{}", "\"from partial\"", "{\"t\": \"from partial\"}"},
        {"missing", "\"{{>t}}\"", "{}", "\"\"", NULL},
        {"with the context", "{{>p}}", "{\"t\": \"x\"}", "*x*", "{\"p\": \"*{{t}}*\"}"},
        {"recursion", "{{>n}}", "{\"c\": \"X\", \"n\": [{\"c\": \"Y\", \"n\": []}]}", "X<Y<>>",
         "{\"n\": \"{{c}}<{{#n}}{{>n}}{{/n}}>\"}"},
        {"nested", "{{>o}}", "{\"a\": \"hello\", \"b\": \"world\"}", "*hello world!*",
         "{\"o\": \"*{{a}} {{>i}}*\", \"i\": \"{{b}}!\"}"},
        {"blanks around stay", "| {{>p}} |", "{}", "| \t|\t |", "{\"p\": \"\\t|\\t\"}"},
        {"inline indentation", "  {{d}}  {{> p}}\n", "{\"d\": \"|\"}", "  |  >\n>\n",
         "{\"p\": \">\\n>\"}"},
        {"alone with CRLF", "|\r\n{{>p}}\r\n|", "{}", "|\r\n>|", "{\"p\": \">\"}"},
        {"alone at the start", "  {{>p}}\n>", "{}", "  >\n  >>", "{\"p\": \">\\n>\"}"},
        {"alone at the end", ">\n  {{>p}}", "{}", ">\n  >\n  >", "{\"p\": \">\\n>\"}"},
        {"all lines indented", "\\\n {{>p}}\n/\n", "{\"c\": \"<\\n->\"}", "\\\n |\n <\n->\n |\n/\n",
         "{\"p\": \"|\\n{{{c}}}\\n|\\n\"}"},
        {"blanks inside", "|{{> p }}|", "{\"b\": true}", "|[]|", "{\"p\": \"[]\"}"},
    };
    (void)state;
    CHECK(cases);
}

static void brackets(const char *form, const json_t *value, Str *out) {
    if (json_is_string(value))
        str_printf(out, "%s<%s>", form ? form : "", json_string_value(value));
    else
        str_printf(out, "%s<%d>", form ? form : "", (int)json_integer_value(value));
}

static void numbers_are_shown_in_the_form_that_the_tag_names(void **state) {
    static const Case cases[] = {
        {"without a form", "{{a.b}}", "{\"a\": {\"b\": 1}}", "&lt;1&gt;", NULL},
        {"by form", "{{a.b|f}} {{{a.b | f }}}", "{\"a\": {\"b\": 1}}", "f&lt;1&gt; f<1>", NULL},
        {"text as it is", "{{s}}", "{\"s\": \"x\"}", "x", NULL},
        {"text by form", "{{{s|f}}}", "{\"s\": \"x\"}", "f<x>", NULL},
        {"a thing of a list", "{{#l}}{{{.|f}}}{{/l}}", "{\"l\": [1, 2]}", "f<1>f<2>", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *got = render(&cases[i], brackets);
        assert_string_equal(got, cases[i].expected);
        free(got);
    }
}

static void what_would_act_is_seen_but_in_fields_kept(void **state) {
    static const Case cases[] = {
        {"controls", "{{s}}", "{\"s\": \"a\\u001b[31m\\u009b\\u202e\\u200b<\"}",
         "a\\x1b[31m\\x9b\\u202e\\u200b&lt;", NULL},
        {"lines", "{{s}}", "{\"s\": \"a\\tb\\r\\nc\\rd\\n\"}", "a\tb\r\nc\\x0dd\n", NULL},
        {"a field", "{{s|field}}", "{\"s\": \"a\\u202e\\r<\"}", "a\xE2\x80\xAE\r&lt;", NULL},
        {"a number in a field", "{{n|field}}", "{\"n\": 1}", "1", NULL},
        {"raw", "{{{s}}}", "{\"s\": \"\\u202e\"}", "\xE2\x80\xAE", NULL},
    };
    (void)state;
    CHECK(cases);
}

static void broken_templates_are_refused_with_their_line(void **state) {
    static const struct {
        const char *template, *part;
    } cases[] = {
        {"a\n{{#b}}x", "bad, line 2: a section is never closed: b"},
        {"{{/b}}", "line 1: this closes a section that is not open: b"},
        {"{{#a}}\n{{#b}}\n{{/a}}{{/b}}", "line 3: this closes a section that is not open: a"},
        {"one\n\n{{name", "line 3: a tag is not closed"},
        {"{{{name}}", "a tag is not closed"},
        {"{{}}", "no usable name"},
        {"{{#}}{{/}}", "no usable name"},
        {"{{=a=}}", "delimiters"},
        {"{{= == == =}}", "delimiters"},
        {"{{=123456789 x=}}", "delimiters"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Error err;
        Mustache *set = mustache_new(NULL, NULL);
        assert_false(mustache_add(set, "bad", cases[i].template, &err));
        if (!strstr(err.message, cases[i].part))
            fail_msg("\"%s\": \"%s\" lacks \"%s\"", cases[i].template, err.message, cases[i].part);
        assert_false(mustache_has(set, "bad"));
        mustache_free(set);
    }
}

static bool is_iso(const char *form) {
    return strcmp(form, "iso") == 0;
}

static void a_form_that_is_not_there_is_refused_with_its_line(void **state) {
    Error err;
    Mustache *set = mustache_new(NULL, is_iso);
    (void)state;
    assert_true(mustache_add(set, "good", "{{a}}{{b|iso}}{{c|field}}", &err));
    assert_false(mustache_add(set, "bad", "{{a|iso}}\n{{b|isolated}}", &err));
    assert_string_equal(err.message, "bad, line 2: there is no form isolated");
    mustache_free(set);
}

static bool renders(const char *template, size_t max) {
    Error err;
    Str out;
    json_t *data = json_pack("{s:b, s:s}", "t", 1, "s", "0123456789");
    Mustache *set = mustache_new(NULL, NULL);
    assert_true(mustache_add(set, "main", template, &err));
    str_init(&out, max);
    bool good = mustache_render(set, "main", data, &out, &err);
    str_release(&out);
    mustache_free(set);
    json_decref(data);
    return good;
}

static void endless_and_oversized_pages_are_refused(void **state) {
    Error err;
    Str out;
    Mustache *set = mustache_new(NULL, NULL);
    (void)state;
    assert_false(renders("{{>main}}", 1 << 20));
    assert_false(renders("{{#t}}{{>main}}{{/t}}", 1 << 20));
    assert_true(renders("{{s}}", 10));
    assert_false(renders("{{s}}{{s}}", 19));
    assert_false(renders("{{{s}}}!", 10));
    str_init(&out, 100);
    assert_false(mustache_render(set, "nowhere", NULL, &out, &err));
    assert_string_equal(err.code, "no_template");
    str_release(&out);
    mustache_free(set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_leave_nothing),
        cmocka_unit_test(variables_are_found_and_escaped),
        cmocka_unit_test(sections_repeat_enter_and_skip),
        cmocka_unit_test(inverted_sections_show_what_is_not),
        cmocka_unit_test(delimiters_can_be_changed),
        cmocka_unit_test(partials_are_put_in),
        cmocka_unit_test(numbers_are_shown_in_the_form_that_the_tag_names),
        cmocka_unit_test(what_would_act_is_seen_but_in_fields_kept),
        cmocka_unit_test(broken_templates_are_refused_with_their_line),
        cmocka_unit_test(a_form_that_is_not_there_is_refused_with_its_line),
        cmocka_unit_test(endless_and_oversized_pages_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
