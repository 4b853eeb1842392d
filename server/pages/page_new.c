// The page with the form for a new test. The tables of fields (submit/field_rules.c, and the file
// of each workload) hold labels and hints; a field's rule says which values it takes, and so which
// control it has. The document holds its value.
#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/ledger/workload.h"
#include "server/pages/format.h"
#include "server/pages/page_new.h"
#include "server/submit/fields.h"

typedef struct FormField {
    const char *part; // of the form, a list in the document
    const char *name, *label;
    int flags; // SHOW_CODE and others
    const char *hint;
} FormField;

// The name of a choice on the page, if it is not its value.
static const char *choice_title(const char *value) {
    static const char *const titles[][2] = {
        {"normalized", "normalized Elo"},
        {"logistic", "logistic Elo"},
        {"standard", "standard chess"},
        {"chess960", "Chess960"},
    };
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i][0], value) == 0)
            return titles[i][1];
    return value;
}

static void add_choice(json_t *choices, const char *value, const char *title, const char *chosen) {
    json_array_append_new(choices, json_pack("{s:s, s:s, s:b}", "value", value, "title", title,
                                             "selected", strcmp(value, chosen) == 0));
}

// "on|off" as a list.
static json_t *choices_of_rule(const FieldRule *rule, const char *chosen) {
    json_t *choices = json_array();
    for (const char *p = rule->choices; *p; p += *p == '|') {
        size_t size = strcspn(p, "|");
        char *value scope(free_ptr) = xstrndup(p, size);
        add_choice(choices, value, choice_title(value), chosen);
        p += size;
    }
    return choices;
}

static json_t *choices_of_workloads(const char *chosen) {
    json_t *choices = json_array();
    for (int i = 0; i < workload_count(); i++)
        add_choice(choices, workload_at(i)->name, workload_at(i)->label, chosen);
    return choices;
}

static json_t *choices_of_books(const json_t *books) {
    json_t *book, *choices = json_array();
    size_t i;
    json_array_foreach (books, i, book) {
        const char *name = member_text(book, "name");
        bool is_chosen = json_is_true(json_object_get(book, "selected"));
        Str title scope(str_release);
        str_init(&title, 1024);
        str_printf(&title, "%s (", name);
        format_value("whole", json_object_get(book, "openings"), &title);
        str_putc(&title, ')');
        add_choice(choices, name, title.data, is_chosen ? name : "");
    }
    return choices;
}

// The lengths of tests whose submission states none: "800,000 for SPRT, …".
static char *lengths_text(void) {
    Str text scope(str_release);
    str_init(&text, 1024);
    for (int i = 0; i < workload_count(); i++) {
        json_auto_t *games = json_integer(2 * workload_at(i)->units_max);
        str_puts(&text, i ? ", " : "");
        format_value("whole", games, &text);
        str_printf(&text, " (%s)", workload_at(i)->label);
    }
    return xstrdup(text.data);
}

static char *hint_text(const char *hint, const json_t *document) {
    const char *baseline = strstr(hint, "{baseline}"), *lengths = strstr(hint, "{lengths}");
    char *all scope(free_ptr) = lengths_text();
    if (baseline)
        return xasprintf("%.*s%.10s%s", (int)(baseline - hint), hint,
                         member_text(json_object_get(document, "engine"), "baseline"),
                         baseline + strlen("{baseline}"));
    return lengths ? xasprintf("%.*s%s%s", (int)(lengths - hint), hint, all,
                               lengths + strlen("{lengths}"))
                   : xstrdup(hint);
}

// [{"code": whether the text stands between backticks, "text"}]
static json_t *hint_parts(const char *hint, const json_t *document) {
    json_t *parts = json_array();
    char *text scope(free_ptr) = hint_text(hint, document);
    const char *p = text;
    for (bool code = false; *p; code = !code) {
        size_t size = strcspn(p, "`");
        json_array_append_new(parts, json_pack("{s:b, s:s%}", "code", code, "text", p, size));
        p += size + (p[size] == '`');
    }
    return parts;
}

// The control of a field: one member names it, the others are its attributes.
static json_t *control(const FormField *field, const FieldRule *rule, const json_t *document) {
    const char *value = member_text(json_object_get(document, "values"), field->name);
    if (!rule)
        return json_pack("{s:b}", "is_file", 1);
    if (strcmp(field->name, "book") == 0)
        return json_pack("{s:b, s:o}", "is_choice", 1, "choices",
                         choices_of_books(json_object_get(document, "books")));
    if (rule->kind == FIELD_WORKLOAD)
        return json_pack("{s:b, s:o}", "is_choice", 1, "choices", choices_of_workloads(value));
    if (rule->kind == FIELD_CHOICE)
        return json_pack("{s:b, s:o}", "is_choice", 1, "choices", choices_of_rule(rule, value));
    json_t *out = json_pack("{s:s}", "value", value);
    bool is_text = rule->kind == FIELD_TEXT;
    json_object_set_new(out, is_text ? "is_text" : "is_line", json_true());
    if (is_text)
        json_object_set_new(out, "rows", json_integer(field->flags & SHOW_CODE ? 12 : 3));
    if (rule->kind == FIELD_LINE)
        json_object_set_new(out, "maxlength", json_integer((json_int_t)rule->high));
    if (rule->kind == FIELD_WHOLE || rule->kind == FIELD_DECIMAL)
        json_object_set_new(out, "inputmode",
                            json_string(rule->kind == FIELD_WHOLE ? "numeric" : "decimal"));
    return out;
}

// `only`: the workload that has the field; NULL: every test has it.
static json_t *field_document(const FormField *field, const char *only, const json_t *document) {
    const FieldRule *rule = submit_rule(field->name);
    bool code = field->flags & SHOW_CODE ||
                (rule && (rule->kind == FIELD_TC || rule->kind == FIELD_OPTIONS));
    json_t *out = control(field, rule, document);
    json_t *problem = json_object_get(json_object_get(document, "wrong"), field->name);
    json_t *rest = json_pack("{s:s, s:s, s:o, s:b, s:b, s:b, s:O?, s:s?}", "name", field->name,
                             "label", field->label, "hint", hint_parts(field->hint, document),
                             "code", code, "optional", field->flags & SHOW_OPTIONAL, "full",
                             field->flags & SHOW_FULL, "problem", problem, "only_workload", only);
    json_object_update(out, rest);
    json_decref(rest);
    return out;
}

static void add_field(json_t *parts, const FormField *field, const char *only,
                      const json_t *document) {
    if (!json_object_get(parts, field->part))
        json_object_set_new(parts, field->part, json_array());
    json_array_append_new(json_object_get(parts, field->part),
                          field_document(field, only, document));
}

// The parameters of all workloads follow the field that chooses the workload.
static void add_parameters(json_t *parts, const char *part, bool rare, const json_t *document) {
    for (int w = 0; w < workload_count(); w++)
        for (const WorkloadField *f = workload_at(w)->fields; f->rule.name; f++)
            if (f->rare == rare)
                add_field(parts, &(FormField){part, f->rule.name, f->label, 0, f->hint},
                          workload_at(w)->name, document);
}

void page_new_fields(json_t *document) {
    static const FormField patch_file = {"change", "patch_file", "… or a file", 0,
                                         "Upload the patch instead, at most 1 MB."};
    json_t *parts = json_object();
    const CommonField *field;
    for (int i = 0; (field = common_field_at(i)); i++) {
        const char *name = field->rule.name;
        if (field->part)
            add_field(parts,
                      &(FormField){field->part, name, field->label, field->flags, field->hint},
                      NULL, document);
        if (strcmp(name, "patch") == 0)
            add_field(parts, &patch_file, NULL, document);
        if (strcmp(name, "workload") == 0)
            add_parameters(parts, "decides", false, document);
        if (strcmp(name, "variant") == 0)
            add_parameters(parts, "more", true, document);
    }
    json_object_set_new(document, "fields", parts);
}
