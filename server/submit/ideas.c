// See ideas.h.
#include "server/submit/ideas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/ledger/count.h"
#include "server/submit/fields.h"
#include "server/submit/test_columns.h"
#include "sql/ideas.h"

// The test that asks, or would be submitted.
typedef struct Asking {
    int64_t test, engine; // test 0: it does not exist yet
    const PatchIdentity *identity;
    const char *workload, *parameters, *new_options, *base_options;
    bool tries; // it plays, will play, or has played
} Asking;

// The SPRTs of an idea.
typedef struct Tries {
    int count, finished, same_bounds; // this test is in the count alone
    double none;                      // probability that all of them reject a worthless patch
} Tries;

static const char *or_null(const char *id) {
    return *id ? id : NULL;
}

// ---- one test -----------------------------------------------------------------------------------

static json_t *terms_of(const Count *count) {
    Str text scope(str_release);
    str_init(&text, COUNT_SUMMARY_MAX);
    count->workload->terms(&count->test, &text);
    return json_string(text.data);
}

static const char *change_of(const json_t *row) {
    bool white_space = json_is_true(json_object_get(row, "white_space"));
    bool other_base = json_is_true(json_object_get(row, "other_base"));
    const char *alike = member_text(row, "alike");
    if (strcmp(alike, "tree") == 0)
        return other_base ? "the same tree against another base" : "the same tree";
    if (strcmp(alike, "patch") == 0)
        return white_space ? "the same patch but for white space" : "the same patch";
    return white_space ? "its reverse but for white space" : "its reverse";
}

// A test that has no pairs and waits for its approval, or ended, cannot have accepted anything. Did
// it count, anyone could raise the number of another author's tries. A reverse is another idea.
static void count_try(const json_t *row, double false_accept, bool same_bounds, Tries *tries) {
    const char *state = member_text(row, "state"), *result = member_text(row, "result");
    bool finished = strcmp(state, "finished") == 0, pending = strcmp(state, "pending") == 0;
    if (false_accept <= 0 || strcmp(member_text(row, "alike"), "reverse") == 0 ||
        ((finished || pending) && !member_int(row, "units_counted")))
        return;
    bool judged = finished && strcmp(result, "stopped") != 0 && strcmp(result, "failed") != 0;
    tries->count++;
    tries->finished += judged;
    tries->same_bounds += judged && same_bounds;
    tries->none *= 1 - false_accept;
}

static void add_test(json_t *list, const json_t *row, const json_t *own_terms, Tries *tries) {
    static const char *const names[] = {"id",          "title",      "author",   "state",
                                        "result",      "created",    "finished", "alike",
                                        "white_space", "other_base", "harmful"};
    scope(count_release) Count count = {0};
    char summary[COUNT_SUMMARY_MAX] = "";
    json_t *terms = NULL, *test = json_object();
    Error ignored;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_object_set(test, names[i], json_object_get(row, names[i]));
    // The audit names a test that this server cannot read.
    if (count_init(&count, member_text(row, "workload"), member_text(row, "parameters"),
                   member_text(row, "counts"), &ignored)) {
        terms = terms_of(&count);
        count_try(row, count.workload->false_accept(&count.test), json_equal(terms, own_terms),
                  tries);
        count_summary(&count, summary);
    }
    json_object_set_new(test, "terms", terms ? terms : json_string(""));
    json_object_set_new(test, "summary", json_string(summary));
    json_object_set_new(test, "change", json_string(change_of(row)));
    json_array_append_new(list, test);
}

// Begins with the test that asks. Returns its terms; new.
static json_t *begin_tries(const Asking *asking, Tries *tries) {
    scope(count_release) Count count = {0};
    Error ignored;
    *tries = (Tries){.none = 1};
    if (!count_init(&count, asking->workload, asking->parameters, "{}", &ignored))
        return json_null();
    double false_accept = asking->tries ? count.workload->false_accept(&count.test) : 0;
    tries->count = false_accept > 0;
    tries->none = 1 - false_accept;
    return terms_of(&count);
}

// ---- in words -----------------------------------------------------------------------------------

static void add_chance(const Tries *tries, Str *text) {
    double percent = 100 * (1 - tries->none);
    if (tries->count < 2)
        return;
    str_printf(
        text,
        " If the patch is worth no more than the lower of their two bounds, at least one of %d "
        "SPRTs of this idea accepts it with a probability of ",
        tries->count);
    if (percent > 99)
        str_puts(text, "over 99");
    else
        str_printf(text, percent >= 1 ? "%.0f" : "%.2g", percent);
    str_puts(text, "\u00a0%.");
}

// A sentence for each of the two: which tests there are, and what their number means.
static json_t *text_of(const json_t *list, const Tries *tries) {
    enum { NAMED = 4 };
    size_t i, count = json_array_size(list);
    json_t *test;
    Str text scope(str_release);
    str_init(&text, 2000);
    if (!count)
        return json_null();
    str_puts(&text, "Other tests of this idea: ");
    json_array_foreach (list, i, test) {
        if (i == NAMED && count > NAMED + 1)
            break;
        const char *result = member_text(test, "result");
        bool harmful = json_is_true(json_object_get(test, "harmful"));
        str_printf(&text, "%stest %lld (%s, %s%s)", i ? ", " : "",
                   (long long)member_int(test, "id"), member_text(test, "change"),
                   *result ? result : member_text(test, "state"), harmful ? " as harmful" : "");
    }
    if (i < count)
        str_printf(&text, " and %s%zu more", count == IDEAS_LISTED_MAX ? "at least " : "",
                   count - i);
    str_putc(&text, '.');
    add_chance(tries, &text);
    return json_string(text.data);
}

static json_t *note_of(const PatchIdentity *identity) {
    if (strcmp(identity->tree, identity->base_tree) == 0)
        return json_string("The patch changes no file, so only tests of this tree with the same "
                           "options are found.");
    if (!*identity->missing)
        return json_null();
    char *text scope(free_ptr) =
        xasprintf("The patch has no patch-id, so only tests of the same tree are found: %s.",
                  identity->missing);
    return json_string(text);
}

// ---- public -------------------------------------------------------------------------------------

static json_t *ideas_of(Db *db, const Asking *asking) {
    const PatchIdentity *identity = asking->identity;
    Tries tries;
    json_auto_t *terms = begin_tries(asking, &tries);
    json_auto_t *rows = sql_ideas_alike(
        db, .engine = asking->engine, .test = asking->test, .tree = identity->tree,
        .base_tree = identity->base_tree, .patch_id = or_null(identity->id),
        .reverse_id = or_null(identity->reverse), .verbatim_id = or_null(identity->verbatim),
        .verbatim_reverse = or_null(identity->verbatim_reverse), .new_options = asking->new_options,
        .base_options = asking->base_options, .limit = IDEAS_LISTED_MAX);
    json_t *row, *list = json_array();
    size_t i;
    json_array_foreach (rows, i, row)
        add_test(list, row, terms, &tries);
    json_t *text = text_of(list, &tries);
    return json_pack("{s:o, s:b, s:{s:i, s:i, s:i}, s:o, s:o, s:o, s:s?, s:s?}", "tests", list,
                     "more", json_array_size(list) == IDEAS_LISTED_MAX, "sprts", "count",
                     tries.count, "finished", tries.finished, "same_bounds", tries.same_bounds,
                     "chance", tries.count > 1 ? json_real(1 - tries.none) : json_null(), "text",
                     text, "note", note_of(identity), "patch_id", or_null(identity->id),
                     "reverse_patch_id", or_null(identity->reverse));
}

static void take_id(char id[REPO_SHA_MAX], const char *text) {
    snprintf(id, REPO_SHA_MAX, "%s", text ? text : "");
}

json_t *ideas_of_test(Db *db, int64_t test) {
    SqlIdeaOfTest row scope(sql_row_free) = {0};
    if (!sql_idea_of_test(db, &row, test))
        return json_null();
    PatchIdentity identity = {0};
    take_id(identity.base_tree, row.base_tree);
    take_id(identity.tree, row.tree);
    take_id(identity.id, row.patch_id);
    take_id(identity.reverse, row.reverse_id);
    take_id(identity.verbatim, row.verbatim_id);
    take_id(identity.verbatim_reverse, row.verbatim_reverse);
    snprintf(identity.missing, sizeof identity.missing, "%s", row.missing);
    return ideas_of(
        db, &(Asking){.test = test,
                      .engine = row.engine_id,
                      .identity = &identity,
                      .workload = row.workload,
                      .parameters = row.parameters,
                      .new_options = row.new_options,
                      .base_options = row.base_options,
                      .tries = strcmp(row.state, "finished") != 0 || row.units_counted > 0});
}

json_t *ideas_of_fields(Db *db, int64_t engine, const PatchIdentity *identity,
                        const json_t *fields) {
    char *parameters scope(free_ptr) = test_parameters_text(fields);
    return ideas_of(db, &(Asking){.engine = engine,
                                  .identity = identity,
                                  .workload = field_text(fields, "workload"),
                                  .parameters = parameters,
                                  .new_options = field_text(fields, "new_options"),
                                  .base_options = field_text(fields, "base_options"),
                                  .tries = true});
}

bool ideas_store(Db *db, int64_t test, int64_t engine, const PatchIdentity *identity, Error *err) {
    return sql_idea_add(
        db, err, .test = test, .engine = engine, .base_tree = identity->base_tree,
        .tree = identity->tree, .patch_id = or_null(identity->id),
        .reverse_id = or_null(identity->reverse), .verbatim_id = or_null(identity->verbatim),
        .verbatim_reverse = or_null(identity->verbatim_reverse), .missing = identity->missing);
}
