// See submit.h. submit_prepare() does all that is slow, on a reader thread. It checks each field,
// finds the engine, and checks the right to submit to it. The preset and then the defaults fill in
// the fields that the submission leaves out, and all of them must agree. From here on this is the
// one submission that its user has in progress. If too many tests of the user wait, it ends here.
// The repository is opened with a draft, which takes every object that is made. The base is
// resolved, the patch is applied to it or the named commit is taken, and both commits get their
// records. The base must be in the baseline's history or approved, and neither commit may be built
// on one that was called harmful. Then the draft is written beside its places, its size is compared
// with what the user may add in a day, and a net that came with the form is stored as a blob.
//
// submit_check() takes the same steps, except the last one, and goes on after a fault where it can.
//
// submit_store() runs in the turn. It checks again what may have changed meanwhile, writes the
// rows, moves the draft's files to their places, and sets the reference of the test. The COMMIT
// comes last, so a row never lacks its objects or its reference.
//
// Deliberately not done: nothing is built or run, because the first machines check the bench. No
// file is taken back after a failure: the loop sets the references to what the database says, and
// the pruner removes objects to which nothing refers. No waiting claim is woken, because the test
// is pending until it is approved.
#include "server/submit/submit.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/common/time_control.h"
#include "server/db/settings.h"
#include "server/ledger/approval.h"
#include "server/ledger/ledger.h"
#include "server/ledger/workload.h"
#include "server/storage/blob.h"
#include "server/submit/fields.h"
#include "server/submit/ideas.h"
#include "server/submit/in_progress.h"
#include "server/submit/known_options.h"
#include "server/submit/quota.h"
#include "server/submit/rights.h"
#include "server/submit/test_columns.h"
#include "sql/tests.h"

static void submission_drop(Submission **s) {
    submission_free(*s);
}

// ---- engine, preset, book

bool submit_engine(Db *db, const char *name, SqlEngineById *out, Error *err) {
    int64_t id = *name ? sql_engine_of_name(db, 0, name) : sql_engine_only(db, 0);
    return sql_engine_by_id(db, out, id) ||
           error_field(err, 422, "no_such_engine", "engine",
                       "engine: there is no engine '%.40s' on this server", name);
}

// The preset gives the fields that the submission leaves out.
static bool use_preset(const Caller *caller, Submission *s, Error *err) {
    const char *name = field_text(s->fields, "preset");
    if (!*name)
        return true;
    json_auto_t *row = sql_preset_by_name(caller->turn->db, .engine = s->engine.id, .name = name);
    json_auto_t *preset = submit_fields_of_json(json_object_get(row, "fields"), err);
    if (!row || !preset)
        return error_field(err, 422, "no_such_preset", "preset",
                           "preset: the engine has no preset '%.60s'", name);
    json_object_update_missing(s->fields, preset);
    return submit_fields_check(s->fields, err);
}

bool submit_repeats(const json_t *fields) {
    TimeControl tc;
    Error ignored;
    const Workload *workload = workload_named(field_text(fields, "workload"));
    return workload && workload->unit == UNIT_PAIR &&
           tc_parse(field_text(fields, "tc"), &tc, &ignored) && !tc_is_scaled(&tc) &&
           field_whole(fields, "threads") == 1;
}

// No opening is played twice there, and pairs are dealt in whole batches.
static bool has_a_batch(int64_t openings, const json_t *fields, Error *err) {
    int64_t batch = field_whole(fields, "batch_pairs");
    return !submit_repeats(fields) || openings >= batch ||
           error_field(err, 422, "bad_field", "book",
                       "book: it has %lld openings, fewer than a batch of %lld pairs, and at fixed "
                       "nodes or depth none is played twice; take a larger book or a smaller "
                       "batch_pairs",
                       (long long)openings, (long long)batch);
}

bool submit_book_suits(bool chess960, int64_t openings, const json_t *fields, Error *err) {
    if (chess960 && strcmp(field_text(fields, "variant"), "chess960") != 0)
        return error_field(err, 422, "bad_field", "book",
                           "book: %.60s is of Chess960 openings; set variant to chess960",
                           field_text(fields, "book"));
    return has_a_batch(openings, fields, err);
}

static bool find_book(const Caller *caller, Submission *s, Error *err) {
    const char *name = field_text(s->fields, "book");
    bool chess960 = strcmp(field_text(s->fields, "variant"), "chess960") == 0;
    Db *db = caller->turn->db;
    SqlBookByName named = {0};
    SqlBookDefault book = {0};
    if (*name && sql_book_by_name(db, &named, .engine = s->engine.id, .name = name))
        book = (SqlBookDefault){named.id, named.chess960, named.openings};
    else if (!*name)
        sql_book_default(db, &book, .engine = s->engine.id, .chess960 = chess960);
    s->book_id = book.id;
    s->openings = book.openings;
    if (!book.id) {
        char *names scope(free_ptr) = sql_book_names(db, s->engine.id);
        return error_field(err, 422, "no_such_book", "book",
                           "book: the engine has no book '%.60s'%s; it has %.300s", name,
                           *name ? "" : " for this variant", names && *names ? names : "none");
    }
    return submit_book_suits(book.chess960, book.openings, s->fields, err);
}

// Each field by itself. A check goes on with the good ones.
static bool read_fields(const Caller *caller, Submission *s, Error *err) {
    const FieldRule *rule;
    (void)caller;
    for (int i = 0; (rule = submit_rule_at(i)); i++) {
        if (submit_field_check(s->fields, rule, err))
            continue;
        if (!submission_goes_on(s, err))
            return false;
        json_object_del(s->fields, rule->name);
        if (strcmp(rule->name, "title") == 0) // which is not missing
            json_object_set_new(s->fields, "title", json_string("untitled"));
    }
    return true;
}

static bool find_engine(const Caller *caller, Submission *s, Error *err) {
    const char *name = field_text(s->fields, "engine");
    return submit_engine(caller->turn->db, name, &s->engine, err) &&
           right_to_submit(caller, &s->engine, err);
}

static bool complete_fields(const Caller *caller, Submission *s, Error *err) {
    (void)caller;
    submit_fields_complete(s->fields);
    if (!submit_fields_agree(s->fields, err))
        return false;
    s->is_complete = !json_array_size(s->problems);
    return true;
}

// ---- how much a user may ask for

static bool begin(const Caller *caller, Submission *s, Error *err) {
    switch (in_progress_begin(caller->viewer->user_id)) {
    case PROGRESS_BEGUN:
        s->submitter = caller->viewer->user_id;
        return true;
    case PROGRESS_HAS_ONE:
        return error_set(err, 429, "one_at_a_time",
                         "another submission of yours is being looked at; send this one after it");
    case PROGRESS_CLOSED:
        return error_set(err, 503, "busy",
                         "the server is removing old objects from its repositories; try again in a "
                         "few seconds");
    }
    return false;
}

// Maintainers, who approve tests, may have as many as they like; accounts without a role have a
// limit of their own, for installations where all accounts may submit.
static bool check_pending(const Caller *caller, Submission *s, Error *err) {
    Db *db = caller->turn->db;
    bool develops = viewer_has_role(db, caller->viewer, s->engine.id, "developer");
    int64_t limit =
        setting_whole(db, develops ? SETTING_PENDING_TESTS : SETTING_PENDING_TESTS_OPEN);
    int64_t pending = sql_tests_pending_of(db, 0, caller->viewer->user_id);
    return pending < limit || s->retest_of ||
           viewer_has_role(db, caller->viewer, s->engine.id, "maintainer") ||
           error_set(err, 409, "too_many_pending",
                     "%lld of your tests wait for approval, at most %lld may; wait, or stop some",
                     (long long)pending, (long long)limit);
}

static bool seal(const Caller *caller, Submission *s, Error *err) {
    (void)caller;
    return draft_seal(s->draft, err);
}

// Beside its objects a submission writes the file of its reference, and about 1 KiB of rows.
static bool weigh(const Caller *caller, Submission *s, Error *err) {
    enum { OTHER_BYTES = 8192 };
    s->bytes =
        draft_bytes(s->draft) + OTHER_BYTES + (int64_t)strlen(field_text(s->fields, "description"));
    return quota_check(caller, s->bytes, err);
}

static bool open_draft(const Caller *caller, Submission *s, Error *err) {
    s->repo = repo_open(caller->data, s->engine.name, err);
    s->draft = s->repo ? draft_new(caller->data, err) : NULL;
    return s->draft && draft_take_git(s->draft, s->repo, err);
}

static bool make_commits(const Caller *caller, Submission *s, Error *err) {
    if (submit_make_commits(caller, s, err))
        return true;
    return draft_is_full(s->draft)
               ? error_field(err, 422, "patch_too_large", "patch",
                             "patch: the files that it changes have over %d MiB together",
                             DRAFT_BYTES_MAX >> 20)
               : false;
}

// ---- what it is built on ------------------------------------------------------------------------

static bool in_field(const char *field, Error *err) {
    err->status = 422;
    snprintf(err->field, sizeof err->field, "%s", field);
    return error_prefix(err, "%s", field);
}

static bool check_ground(const Caller *caller, Submission *s, Error *err) {
    Db *db = caller->turn->db;
    const char *field = *field_text(s->fields, "commit") ? "commit" : "patch";
    if (!ground_of_base(db, s->repo, &s->engine, s->base, &s->ground, err))
        return in_field("base", err);
    return approval_unharmed(db, s->repo, s->engine.id, s->new, err) || in_field(field, err);
}

static bool check_options(const Caller *caller, Submission *s, Error *err) {
    return known_options_check(caller->turn->db, s->engine.id, s->new, s->base, s->fields, err);
}

static bool check_ground_again(const Caller *caller, const Submission *s, Error *err) {
    return ground_holds(caller->turn->db, &s->ground, s->engine.id, s->base, err) ||
           (strcmp(err->code, "conflict") != 0 && in_field("base", err));
}

// The net that came with the form must be the one that the new commit names.
static bool match_net(const Caller *caller, Submission *s, Error *err) {
    const NetFile *file = &s->input.net;
    if (!file->bytes || !file->size)
        return true;
    if (!*s->new_record.net.sha)
        return error_field(err, 422, "wrong_net", "net",
                           "net: a file came, but the change names no net: put the file's SHA-256 "
                           "into the file %s of the engine's source",
                           s->engine.net_file);
    return net_upload_check(caller, file, s->new_record.net.sha, &s->net, err);
}

static bool keep_net(const Caller *caller, Submission *s, Error *err) {
    const NetFile *file = &s->input.net;
    return !s->net.size || blob_put(caller->data, file->bytes, file->size, s->net.sha, err);
}

// ---- all of it ----------------------------------------------------------------------------------

// Without a step that others need, a check ends. Nothing here leaves anything outside the draft.
static const struct {
    bool (*take)(const Caller *, Submission *, Error *);
    bool is_needed;
} steps[] = {
    {read_fields, true},    {find_engine, true},
    {use_preset, false},    {complete_fields, false},
    {find_book, false},     {begin, true},
    {check_pending, false}, {open_draft, true},
    {make_commits, true},   {submit_check_benches, false},
    {check_ground, false},  {check_options, false},
    {match_net, false},     {seal, true},
    {weigh, false},
};

static bool take_steps(const Caller *caller, Submission *s, Error *err) {
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        *err = (Error){0};
        if (steps[i].take(caller, s, err))
            continue;
        if (!submission_goes_on(s, err))
            return false;
        if (steps[i].is_needed)
            return true;
    }
    return true;
}

static Submission *take(Submission **s) {
    Submission *taken = *s;
    *s = NULL;
    return taken;
}

static Submission *submission_new(SubmitInput input) {
    Submission *s = xcalloc(1, sizeof *s);
    s->input = input;
    s->fields = input.fields;
    return s;
}

Submission *submit_prepare(const Caller *caller, SubmitInput input, Error *err) {
    Submission *s scope(submission_drop) = submission_new(input);
    return take_steps(caller, s, err) && keep_net(caller, s, err) ? take(&s) : NULL;
}

Submission *submit_check(const Caller *caller, SubmitInput input, json_t *problems, Error *err) {
    Submission *s scope(submission_drop) = submission_new(input);
    s->problems = problems;
    return take_steps(caller, s, err) ? take(&s) : NULL;
}

// ---- rows ---------------------------------------------------------------------------------------

// Writes the commit's row, if it has none.
static bool store_commit(const Caller *caller, const Submission *s, const CommitRecord *record,
                         Error *err) {
    return !record->snapshot[0] ||
           commit_record(caller->turn->db, s->engine.id, record, caller->turn->now, err);
}

static bool insert_test(const Caller *caller, const Submission *s, Error *err) {
    TestOrigin origin = {.engine = s->engine.id,
                         .author = s->author_id ? s->author_id : caller->viewer->user_id,
                         .retest_of = s->retest_of,
                         .book = s->book_id};
    return test_write(caller->turn, 0, origin, s->fields, err);
}

// The form has one clock and one number of threads for both sides.
static bool insert_sides(const Caller *caller, const Submission *s, int64_t test, Error *err) {
    const struct {
        const char *name, *sha, *options;
        int64_t bench;
        bool grounded;
    } sides[] = {
        {"new", s->new, field_text(s->fields, "new_options"), s->bench, true},
        {"base", s->base, field_text(s->fields, "base_options"), s->base_bench,
         s->ground.in_baseline},
    };
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        if (!sql_side_add(
                caller->turn->db, err, .test = test, .side = sides[i].name, .engine = s->engine.id,
                .sha = sides[i].sha, .options = sides[i].options, .tc = field_text(s->fields, "tc"),
                .threads = field_whole(s->fields, "threads"), .margin_ms = s->engine.margin_ms,
                .bench_declared = sides[i].bench ? &sides[i].bench : NULL,
                .grounded = sides[i].grounded))
            return false;
    return true;
}

// 0: an error.
static int64_t store_rows(const Caller *caller, const Submission *s, Error *err) {
    bool is_new;
    if ((s->net.size && !net_upload_store(caller, &s->engine, &s->net, &is_new, err)) ||
        !store_commit(caller, s, &s->base_record, err) ||
        !store_commit(caller, s, &s->new_record, err) || !insert_test(caller, s, err))
        return 0;
    int64_t test = db_last_id(caller->turn->db);
    return insert_sides(caller, s, test, err) &&
                   ideas_store(caller->turn->db, test, s->engine.id, &s->identity, err)
               ? test
               : 0;
}

// Says which other tests of the same idea there are.
static void tell_submitted(const Caller *caller, const Submission *s, int64_t test) {
    json_auto_t *seen = ideas_of_test(caller->turn->db, test);
    const char *others = member_text(seen, "text");
    ledger_event(caller->turn, "submitted", caller->viewer->user_id, 0, test, "%s%s%s",
                 field_text(s->fields, "title"), *others ? ". " : "", others);
}

// The order matters: blobs and objects first, then the reference; the COMMIT ends the turn. If
// it fails, the reference is removed again.
int64_t submit_store(const Caller *caller, Submission *s, Error *err) {
    Turn *turn = caller->turn;
    if (!check_ground_again(caller, s, err) || !check_pending(caller, s, err))
        return 0;
    int64_t test = store_rows(caller, s, err);
    if (!test || (s->bytes && !quota_count(caller, s->bytes, err)))
        return 0;
    turn_moves_git(turn);
    if (s->draft && !draft_publish(s->draft, err))
        return 0;
    if (!repo_test_ref_set(s->repo, test, s->new, err))
        return 0;
    tell_submitted(caller, s, test);
    turn_publish(turn, "test", json_pack("{s:I, s:s}", "id", (json_int_t)test, "state", "pending"));
    return test;
}
