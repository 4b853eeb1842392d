// The document of the form for a new test. Values are text by the names of submit_rules, so that
// the page shows exactly what a submission would read.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/pages/doc.h"
#include "server/submit/fields.h"
#include "sql/git.h"
#include "sql/nets.h"
#include "sql/pages.h"
#include "sql/tests.h"

// What a form holds before anything was typed.
static json_t *default_values(void) {
    json_t *values = json_object();
    const FieldRule *rule;
    for (int i = 0; (rule = submit_rule_at(i)); i++)
        json_object_set_new(values, rule->name, json_string(rule->fallback ? rule->fallback : ""));
    return values;
}

// A file that was uploaded cannot be put back into the file field, but its text can be shown.
static void take_file(const Params *typed, json_t *values) {
    const Param *file = params_find(typed, "patch_file");
    json_t *text = file && file->size ? json_stringn(file->value, file->size) : NULL;
    if (text && !*member_text(values, "patch"))
        json_object_set(values, "patch", text);
    json_decref(text);
}

static json_t *typed_values(const Params *typed) {
    json_t *values = json_object();
    const FieldRule *rule;
    for (int i = 0; (rule = submit_rule_at(i)); i++) {
        const Param *field = params_find(typed, rule->name);
        json_t *value = field ? json_stringn(field->value, field->size) : NULL;
        json_object_set_new(values, rule->name, value ? value : json_string(""));
    }
    take_file(typed, values);
    return values;
}

// ---- from a preset, from another test -----------------------------------------------------------

// Marks the item of the wanted name, or else the first, and gives its name.
static const char *choose(json_t *items, const char *wanted) {
    json_t *item, *chosen = json_array_get(items, 0);
    size_t i;
    json_array_foreach (items, i, item)
        if (strcmp(member_text(item, "name"), wanted) == 0)
            chosen = item;
    if (chosen)
        json_object_set_new(chosen, "selected", json_true());
    return member_text(chosen, "name");
}

static void use_preset(json_t *values, const json_t *presets, const char *name) {
    json_t *preset;
    size_t i;
    Error ignored;
    json_array_foreach (presets, i, preset) {
        if (strcmp(member_text(preset, "name"), name) != 0)
            continue;
        json_auto_t *fields = submit_fields_of_json(json_object_get(preset, "fields"), &ignored);
        json_object_update(values, fields);
    }
    json_object_set_new(values, "preset", json_string(name));
}

// The same test again: its commits by name, its settings. If its patch is no
// longer kept, the commits are left to the author.
static void use_test(const DocContext *ctx, json_t *values, const char *number) {
    long id;
    SqlTestForChange test scope(sql_row_free) = {0};
    if (!parse_long(number, 1, INT64_MAX, &id) || !sql_test_for_change(ctx->db, &test, id))
        return;
    json_auto_t *settings = sql_test_settings(ctx->db, id);
    json_auto_t *fields = submit_fields_of_test(settings);
    json_object_update(values, fields);
    if (!isnan(test.patch_dropped))
        return;
    json_object_set_new(values, "commit", json_string(test.new_commit));
    json_object_set_new(values, "base", json_string(test.base_commit));
}

// What a link asks for: the test of a commit against a base, for example.
static void use_query(const DocContext *ctx, json_t *values) {
    static const char *const names[] = {"title", "commit", "base"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (*doc_query(ctx, names[i]))
            json_object_set_new(values, names[i], json_string(doc_query(ctx, names[i])));
}

// ---- the document -------------------------------------------------------------------------------

static json_t *find_engine(const DocContext *ctx, json_t *engines, const char *wanted, Error *err) {
    const char *name = choose(engines, wanted);
    json_t *engine = sql_page_form_engine(ctx->db, name);
    if (!engine)
        error_set(err, 404, "no_such_engine", "this server has no engine");
    return engine;
}

json_t *doc_form(const DocContext *ctx, const Params *typed, Error *err) {
    json_t *values = typed ? typed_values(typed) : default_values();
    json_auto_t *engines = sql_page_engines(ctx->db);
    json_auto_t *engine = find_engine(
        ctx, engines, typed ? member_text(values, "engine") : doc_query(ctx, "engine"), err);
    if (!engine) {
        json_decref(values);
        return NULL;
    }
    int64_t id = member_int(engine, "id");
    json_t *presets = sql_page_presets(ctx->db, id);
    json_t *books = sql_page_books(ctx->db, id);
    const char *preset =
        choose(presets, typed ? member_text(values, "preset") : doc_query(ctx, "preset"));
    if (!typed)
        use_preset(values, presets, preset);
    if (!typed && *doc_query(ctx, "like"))
        use_test(ctx, values, doc_query(ctx, "like"));
    if (!typed)
        use_query(ctx, values);
    choose(books, member_text(values, "book"));
    bool may = viewer_submits(ctx->db, ctx->viewer, id);
    return json_pack("{s:O, s:O, s:o, s:o, s:o, s:b}", "engine", engine, "engines", engines,
                     "presets", presets, "books", books, "values", values, "may_submit",
                     may && ctx->viewer->user_id);
}
