// The page with the form for a new test. A field of the form is a row of form_fields: its label and
// its hint. Its rule (submit/fields.h) says which values it takes, and so which control it has. The
// document holds its value. The parameters of a workload stand in the workload's file.
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
     "What the patch changes, in a few words. If it is empty, the subject of the mailed patch or "
     "of "
     "the commit becomes the title."},
    {"change", "description", "Why", FULL | OPTIONAL,
     "What you expect of the patch, and what led you to it. The text becomes the body of the "
     "commit "
     "message."},
    {"change", "patch", "Patch", FULL | CODE,
     "The output of `git diff`, `git format-patch` (also several mails) or `diff -u` against the "
     "base below. The patch must apply exactly: the server does not search for offsets. The "
     "command "
     "that gets the source is at the foot of this page."},
    {"change", "patch_file", "… or a file", 0, "Upload the patch instead, at most 1 MB."},
    {"change", "commit", "… or a commit", CODE,
     "Instead of a patch, name a branch or commit of the repository on this server, or the commit "
     "of another test: `test:42`."},
    {"against", "base", "Base", CODE,
     "The patch plays against this commit: `baseline` (now {baseline}), a branch, a commit, or the "
     "commit of another test: `test:42`."},
    {"against", "bench", "Bench", 0,
     "The number of nodes that `bench` prints with the patch. It is the same on every machine, so "
     "workers check their builds by it. If it is empty, the server takes the last line `Bench: N` "
     "of the message. Without such a line, the first workers that build the patch establish it."},
    {"decides", "workload", "Kind", 0,
     "An SPRT ends as soon as the result is clear. A fixed test plays all its games and estimates "
     "the difference. A test that stops at ± Elo ends when it knows the difference with that "
     "error."},
    {"decides", "tc", "Time control", 0,
     "Seconds and increment: `10+0.1`. Also `40/10+0.1`, `st=0.1`, `nodes=20000` and `depth=8`. "
     "Clocks are scaled to the speed of each machine."},
    {"decides", "games", "Games at most", 0,
     "A fixed test plays this number of games. Another test ends there if it is still undecided. "
     "If the field is empty: {lengths}."},
    {"more", "new_options", "Options of the patch", 0,
     "UCI options as `Name=value`, separated by blanks. The field Threads below sets the threads."},
    {"more", "base_options", "Options of the base", 0,
     "The same as for the patch, unless the test compares options."},
    {"more", "threads", "Threads", 0,
     "The threads of each engine. A game uses as many cores as one engine has threads."},
    {"more", "book", "Book", 0,
     "Both games of a pair start from the same opening, with colours exchanged. No opening is used "
     "again before all others of the book were used."},
    {"more", "variant", "Variant", 0, "Chess960 needs a book with openings of Chess960."},
    {"more", "priority", "Priority", 0,
     "A test of higher priority gets machines first. 0 is the usual priority."},
    {"more", "batch_pairs", "Pairs in a batch", 0,
     "A worker reports this number of pairs at once. If the field is empty, the time control "
     "decides: 16 pairs for short games, 1 for long ones."},
    {"more", "seed", "Seed", 0,
     "It determines the order of the openings. If it is empty, the server draws one."},
    {"more", "base_bench", "Bench of the base", 0,
     "Needed only if the bench of the base is not known yet."},
    {"adjudication", "adjudication", "Adjudication", 0,
     "If it is off, every game is played to its end by the rules of chess."},
    {"adjudication", "resign", "Resigning", 0,
     "An engine loses the game if its own scores stay as low as the next fields say."},
    {"adjudication", "resign_score", "… at centipawns", 0,
     "The engine's score is this far below zero, or further."},
    {"adjudication", "resign_count", "… for moves", 0,
     "The number of consecutive moves of the engine with such a score."},
    {"adjudication", "resign_two_sided", "… both must agree", 0,
     "If it is on, the opponent's scores must show the win as well. If it is off, the scores of "
     "the "
     "losing engine are enough."},
    {"adjudication", "draw", "Draws", 0,
     "The game is a draw if the scores of both engines stay near zero."},
    {"adjudication", "draw_move", "… after move", 0, "Games are not drawn before this move."},
    {"adjudication", "draw_score", "… within centipawns", 0,
     "The scores of both engines are at most this far from zero."},
    {"adjudication", "draw_count", "… for moves", 0,
     "The number of consecutive moves of each engine with such a score."},
    {"adjudication", "max_moves", "Longest game", 0,
     "A game with this many moves after its opening is drawn. 0 means that there is no limit."},
};

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
        json_object_set_new(out, "rows", json_integer(field->flags & CODE ? 12 : 3));
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

// The parameters of all workloads follow the field that chooses the workload.
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
