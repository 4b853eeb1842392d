// The page with the form for a new test. A field of the form is a row of form_fields: its label and
// its hint. Its rule (submit/fields.h) says what may be typed into it, and so which control it has;
// its value is in the document. The parameters of a workload stand in the workload's file.
#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/ledger/workload.h"
#include "server/pages/format.h"
#include "server/pages/page_new.h"
#include "server/submit/fields.h"

enum { CODE = 1, OPTIONAL = 2, FULL = 4 };

typedef struct FormField {
    const char *part; // of the form, a list in the document
    const char *name, *label;
    int flags;
    // `code` stands between backticks, {baseline} for the first digits of that commit.
    const char *hint;
} FormField;

// In the order of the page.
static const FormField form_fields[] = {
    {"change", "title", "Title", FULL,
     "In a few words what the patch changes. Empty: the subject of a mailed patch or of the "
     "commit."},
    {"change", "description", "Why", FULL | OPTIONAL,
     "What you expect, and what led you to it. It becomes the body of the commit message."},
    {"change", "patch", "Patch", FULL | CODE,
     "The output of `git diff`, `git format-patch` (several mails too) or `diff -u` against the "
     "base below. It must "
     "apply exactly: offsets are not searched. The command that gets the source is at the foot of "
     "this page."},
    {"change", "patch_file", "… or a file", 0, "Instead of pasting; at most 1 MB."},
    {"change", "commit", "… or a commit", CODE,
     "Instead of a patch: a branch or commit of the repository on this server, or `test:42`."},
    {"against", "base", "Base", CODE,
     "What the change is measured against: `baseline` (now {baseline}), a branch, a commit, or "
     "`test:42` for the "
     "change of that test."},
    {"against", "bench", "Bench", 0,
     "The node count that `bench` prints with the patch, the same on every machine: how workers "
     "know that they built "
     "what you meant. Empty: taken from the last `Bench: N` line of the message, else the first "
     "builders establish it."},
    {"decides", "workload", "Kind", 0,
     "An SPRT stops as soon as the result is clear. A fixed test plays all its games and measures. "
     "A test that stops at ± Elo plays until the difference is known that well."},
    {"decides", "tc", "Time control", 0,
     "Seconds and increment, `10+0.1`; also `40/10+0.1`, `st=0.1`, `nodes=20000`, `depth=8`. "
     "Clocks are scaled to each "
     "machine's speed."},
    {"decides", "games", "Games at most", 0,
     "A fixed test plays so many. All others end there if they are still undecided. Empty: "
     "{lengths}."},
    {"more", "new_options", "Options of the patch", 0,
     "UCI options, `Name=value` divided by blanks. Threads come from the field below."},
    {"more", "base_options", "Options of the base", 0,
     "The same as above unless the options are what is tested."},
    {"more", "threads", "Threads", 0, "For each engine; a game owns that many cores."},
    {"more", "book", "Book", 0,
     "Each pair of games starts from one opening, once with either colour; openings do not repeat "
     "until the book is "
     "used up."},
    {"more", "variant", "Variant", 0, "Chess960 needs a book of its openings."},
    {"more", "priority", "Priority", 0, "Higher goes first; 0 is usual."},
    {"more", "batch_pairs", "Pairs in a batch", 0,
     "How much a worker reports at once. Empty: by the clock, 16 for short games, 1 for long "
     "ones."},
    {"more", "seed", "Seed", 0, "Of the order of the openings. Empty: a random one."},
    {"more", "base_bench", "Bench of the base", 0, "Only where the base has none yet."},
    {"adjudication", "adjudication", "Adjudication", 0,
     "Off: all games are played out by the rules."},
    {"adjudication", "resign", "Resigning", 0,
     "The game is lost for an engine whose own score stays that bad."},
    {"adjudication", "resign_score", "… at centipawns", 0, "As bad as this or worse."},
    {"adjudication", "resign_count", "… for moves", 0, "In a row."},
    {"adjudication", "resign_two_sided", "… both must agree", 0,
     "Off: the loser's word is enough."},
    {"adjudication", "draw", "Draws", 0, "The game is drawn when both see next to nothing."},
    {"adjudication", "draw_move", "… after move", 0, "Not before this move."},
    {"adjudication", "draw_score", "… within centipawns", 0, "Of zero, for both."},
    {"adjudication", "draw_count", "… for moves", 0, "In a row."},
    {"adjudication", "max_moves", "Longest game", 0, "Moves after which it is drawn; 0: no limit."},
};

// What a choice is called on the page, where its value does not say it.
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

// [{"code": whether it stands between backticks, "text"}]
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

// What the control of a field is: one member says which it is, the others belong to it.
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
        json_object_set_new(out, "rows", json_integer(field->flags & CODE ? 12 : 3));
    if (rule->kind == FIELD_LINE)
        json_object_set_new(out, "maxlength", json_integer((json_int_t)rule->high));
    if (rule->kind == FIELD_WHOLE || rule->kind == FIELD_DECIMAL)
        json_object_set_new(out, "inputmode",
                            json_string(rule->kind == FIELD_WHOLE ? "numeric" : "decimal"));
    return out;
}

// `only`: the workload that alone has the field; NULL: every test has it.
static json_t *field_document(const FormField *field, const char *only, const json_t *document) {
    const FieldRule *rule = submit_rule(field->name);
    bool code =
        field->flags & CODE || (rule && (rule->kind == FIELD_TC || rule->kind == FIELD_OPTIONS));
    json_t *out = control(field, rule, document);
    json_t *problem = json_object_get(json_object_get(document, "wrong"), field->name);
    json_t *rest = json_pack("{s:s, s:s, s:o, s:b, s:b, s:b, s:O?, s:s?}", "name", field->name,
                             "label", field->label, "hint", hint_parts(field->hint, document),
                             "code", code, "optional", field->flags & OPTIONAL, "full",
                             field->flags & FULL, "problem", problem, "only_workload", only);
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

// The parameters of all workloads stand behind the field that chooses one.
static void add_parameters(json_t *parts, const char *part, bool rare, const json_t *document) {
    for (int w = 0; w < workload_count(); w++)
        for (const WorkloadField *f = workload_at(w)->fields; f->rule.name; f++)
            if (f->rare == rare)
                add_field(parts, &(FormField){part, f->rule.name, f->label, 0, f->hint},
                          workload_at(w)->name, document);
}

void page_new_fields(json_t *document) {
    json_t *parts = json_object();
    for (size_t i = 0; i < sizeof form_fields / sizeof *form_fields; i++) {
        add_field(parts, &form_fields[i], NULL, document);
        if (strcmp(form_fields[i].name, "workload") == 0)
            add_parameters(parts, "decides", false, document);
        if (strcmp(form_fields[i].name, "variant") == 0)
            add_parameters(parts, "more", true, document);
    }
    json_object_set_new(document, "fields", parts);
}
