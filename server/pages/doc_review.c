// See doc_review.h.
#include "server/pages/doc_review.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/common/json_member.h"
#include "server/common/option_text.h"
#include "server/common/str.h"
#include "server/common/time_control.h"
#include "server/git/repo.h"
#include "server/pages/format.h"
#include "server/patch/patch.h"
#include "server/submit/fields.h"
#include "sql/pages.h"
#include "sql/tests.h"

// People read the first warnings of a list, and not the hundredth.
enum { FILES_NAMED = 10, OLD_BASE = 10 };
static const double USUAL_ERROR = 0.05;

static void warn(json_t *warnings, char *text) {
    json_array_append_new(warnings, json_string(text));
    free(text);
}

// ---- files --------------------------------------------------------------------------------------

// What each risk of a file in the diff means. document.c finds them.
static const struct {
    const char *risk, *means;
} risks[] = {
    {"build file", "decides how the engine is built, and its commands run on the machines"},
    {"workflow", "lies in a hidden folder, from which other services run files"},
    {"new executable", "becomes executable"},
    {"binary", "is binary, so the diff cannot show what it does"},
    {"hidden characters", "has characters that are not seen"},
    {"long line", "has a line that is too long to be read"},
    {"system call", "calls the system, reads a file at build time or has assembly"},
};

static bool has_risk(const json_t *file, const char *risk) {
    size_t i;
    json_t *there;
    json_array_foreach (json_object_get(file, "risk"), i, there) {
        if (strcmp(json_string_value(there), risk) == 0)
            return true;
    }
    return false;
}

static void warn_of_file(const json_t *file, const char *of, json_t *warnings) {
    Str text scope(str_release);
    str_init(&text, 8192);
    str_printf(&text, "%s%s", of, member_text(file, "path"));
    const char *comma = " ";
    for (size_t i = 0; i < sizeof risks / sizeof *risks; i++)
        if (has_risk(file, risks[i].risk)) {
            str_printf(&text, "%s%s", comma, risks[i].means);
            comma = "; it ";
        }
    str_putc(&text, '.');
    json_array_append_new(warnings, json_string(text.data));
}

static void warn_of_files(const json_t *diff, const char *of, json_t *warnings) {
    size_t i;
    json_t *file;
    int named = 0, more = 0;
    json_array_foreach (json_object_get(diff, "files"), i, file) {
        if (json_array_size(json_object_get(file, "risk")) == 0)
            continue;
        if (named++ < FILES_NAMED)
            warn_of_file(file, of, warnings);
        else
            more++;
    }
    if (more)
        warn(warnings, xasprintf("%s%d more files are as risky: see the diff.", of, more));
}

// ---- history ------------------------------------------------------------------------------------

static size_t commits_behind(git_repository *repo, const char *base, const char *baseline) {
    git_oid old, new;
    size_t ahead = 0, behind = 0;
    if (git_oid_fromstr(&old, base) < 0 || git_oid_fromstr(&new, baseline) < 0 ||
        git_graph_ahead_behind(&ahead, &behind, repo, &old, &new) < 0)
        return 0;
    return behind;
}

static void warn_of_history(git_repository *repo, const DiffCommits *commits, json_t *warnings) {
    char common[REPO_SHA_MAX];
    size_t behind = commits_behind(repo, commits->base, commits->baseline);
    if (behind > OLD_BASE)
        warn(warnings, xasprintf("The base is old: the branch has %zu later commits.", behind));
    if (!repo_is_ancestor(repo, commits->base, commits->patch))
        warn(warnings, xstrdup("The patch is not built on its base: the diff also takes away what "
                               "the base has and the patch has not."));
    else if (repo_is_ancestor(repo, commits->base, commits->baseline) &&
             repo_common_ancestor(repo, commits->patch, commits->baseline, common) &&
             strcmp(common, commits->base) != 0)
        warn(warnings, xasprintf("The base is not the newest commit of the branch that the patch "
                                 "is built on, which is %.10s: the diff holds what others did "
                                 "between them.",
                                 common));
}

// ---- conditions ---------------------------------------------------------------------------------

static void warn_of_error(const json_t *fields, const char *name, const char *means,
                          json_t *warnings) {
    double value = field_real(fields, name);
    if (value > USUAL_ERROR)
        warn(warnings,
             xasprintf("%s is %g, above the usual %g: %s.", name, value, USUAL_ERROR, means));
}

// 0: the option is not there.
static double option_number(const char *options, const char *name) {
    OptionText at = {.rest = options};
    while (option_text_next(&at))
        if (strcasecmp(at.name, name) == 0)
            return strtod(at.value, NULL);
    return 0;
}

// Fishtest warns of the same range: 64 MiB at six times 10+0.1, and in proportion.
static void warn_of_hash(const json_t *fields, double ratio, const char *side, json_t *warnings) {
    const double long_game = 5, least = 0.6, most = 1.5, usual = 64 / 6.0 * ratio;
    double hash = option_number(field_text(fields, side), "Hash");
    if (ratio >= long_game && hash > 0 && (hash < least * usual || hash > most * usual))
        warn(warnings, xasprintf("Hash=%g in %s does not suit the clock: usual are %.0f.", hash,
                                 side, usual));
}

// The fields with which tests of this clock usually start: of the preset that fits them best.
typedef struct Usual {
    json_t *fields;
    const char *preset; // borrowed; NULL: none has this clock
    int differences;
} Usual;

static bool is_same(const json_t *a, const json_t *b, const char *name) {
    return json_equal(json_object_get(a, name), json_object_get(b, name));
}

// What is compared: how games end early, by the names of the fields, and the batch.
static json_t *compared(const json_t *fields) {
    json_t *out = field_adjudication(fields);
    doc_copy(out, fields, "batch_pairs");
    return out;
}

static int differences(const json_t *a, const json_t *b) {
    json_auto_t *ours = compared(a), *theirs = compared(b);
    const char *name;
    json_t *value;
    int count = 0;
    json_object_foreach (ours, name, value)
        count += !is_same(ours, theirs, name);
    return count;
}

// The fields of a test that starts with these. New, or NULL if they are not good.
static json_t *completed(const json_t *start) {
    Error ignored;
    json_auto_t *fields = submit_fields_of_json(start, &ignored);
    if (!fields || !submit_fields_check(fields, &ignored))
        return NULL;
    submit_fields_complete(fields);
    return json_incref(fields);
}

static void take_preset(const json_t *fields, const json_t *preset, Usual *usual) {
    json_auto_t *candidate = completed(json_object_get(preset, "fields"));
    int count = candidate ? differences(fields, candidate) : 0;
    if (!candidate || !is_same(fields, candidate, "tc") || !is_same(fields, candidate, "threads") ||
        (usual->preset && count >= usual->differences))
        return;
    json_decref(usual->fields);
    *usual = (Usual){json_incref(candidate), member_text(preset, "name"), count};
}

static void add_setting(const json_t *fields, const char *name, Str *out) {
    const json_t *value = json_object_get(fields, name);
    if (json_is_boolean(value))
        str_puts(out, json_is_true(value) ? "on" : "off");
    else
        format_value(NULL, value, out);
}

static void warn_of_difference(const json_t *ours, const json_t *theirs, const char *name,
                               const char *preset, json_t *warnings) {
    Str text scope(str_release);
    str_init(&text, 1000);
    str_printf(&text, "%s is ", name);
    add_setting(ours, name, &text);
    str_puts(&text, ", and ");
    add_setting(theirs, name, &text);
    str_printf(&text, " in %s%.60s.", preset ? "preset " : "tests of this clock",
               preset ? preset : "");
    json_array_append_new(warnings, json_string(text.data));
}

static void warn_of_unusual(Db *db, int64_t engine, const json_t *fields, json_t *warnings) {
    json_auto_t *presets = sql_page_presets(db, engine);
    json_auto_t *clock = json_object();
    doc_copy(clock, fields, "tc threads");
    Usual usual = {.fields = completed(clock)};
    size_t i;
    json_t *preset;
    json_array_foreach (presets, i, preset)
        take_preset(fields, preset, &usual);
    json_auto_t *ours = compared(fields), *theirs = usual.fields ? compared(usual.fields) : NULL;
    const char *name;
    json_t *value;
    json_object_foreach (theirs, name, value)
        if (!is_same(ours, theirs, name))
            warn_of_difference(ours, theirs, name, usual.preset, warnings);
    json_decref(usual.fields);
}

static void warn_of_conditions(Db *db, int64_t engine, const json_t *fields, json_t *warnings) {
    TimeControl tc;
    Error ignored;
    warn_of_error(fields, "alpha", "more worthless patches pass", warnings);
    warn_of_error(fields, "beta", "more good patches are rejected", warnings);
    if (tc_parse(field_text(fields, "tc"), &tc, &ignored) && tc_is_scaled(&tc)) {
        double ratio = tc_ratio(&tc, (int)field_whole(fields, "threads"));
        warn_of_hash(fields, ratio, "new_options", warnings);
        warn_of_hash(fields, ratio, "base_options", warnings);
    }
    warn_of_unusual(db, engine, fields, warnings);
}

// ---- the whole ----------------------------------------------------------------------------------

static json_t *of_change(git_repository *repo, const DiffCommits *commits, const json_t *diff) {
    json_t *warnings = json_array();
    warn_of_files(diff, "", warnings);
    warn_of_files(json_object_get(diff, "base_diff"), "Of the base: ", warnings);
    warn_of_history(repo, commits, warnings);
    return warnings;
}

// Commits never change, so this is kept.
static json_t *of_test(const DocContext *ctx, const json_t *row) {
    const char *engine = member_text(row, "engine");
    DiffCommits commits = {member_text(row, "new_commit"), member_text(row, "base_commit"),
                           member_text(row, "baseline")};
    char *key scope(free_ptr) =
        xasprintf("review %s %s %s %s", engine, commits.baseline, commits.base, commits.patch);
    json_t *kept = doc_kept(ctx, key, true);
    if (kept)
        return kept;
    Error ignored;
    git_repository *repo scope(repo_free) = repo_open(ctx->data, engine, &ignored);
    json_auto_t *diff = repo ? patch_test_document(repo, &commits, DIFF_WHOLE, &ignored) : NULL;
    json_t *warnings = diff ? of_change(repo, &commits, diff) : NULL;
    doc_keep(ctx, key, true, warnings);
    return warnings ? warnings : json_array();
}

json_t *doc_review_of_test(const DocContext *ctx, const json_t *row) {
    Error ignored;
    if (strcmp(member_text(row, "state"), "pending") != 0)
        return json_array();
    json_t *warnings = of_test(ctx, row);
    json_auto_t *settings = sql_test_settings(ctx->db, member_int(row, "id"));
    json_auto_t *fields = submit_fields_of_test(settings);
    if (submit_fields_check(fields, &ignored))
        warn_of_conditions(ctx->db, member_int(row, "engine_id"), fields, warnings);
    return warnings;
}

json_t *doc_review_of_submission(const DocContext *ctx, const Submission *s, const json_t *diff) {
    DiffCommits commits = {s->new, s->base, s->engine.baseline};
    json_t *warnings = of_change(s->repo, &commits, diff);
    if (s->is_complete)
        warn_of_conditions(ctx->db, s->engine.id, s->fields, warnings);
    return warnings;
}
