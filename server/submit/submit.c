// A submission from the request to the rows: see submit.h.
#include "server/submit/submit.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/common/json_member.h"
#include "server/ledger/ledger.h"
#include "server/submit/in_progress.h"

void submission_free(void *submission) {
    Submission *s = submission;
    if (!s)
        return;
    json_decref(s->fields);
    json_decref(s->engine);
    git_repository_free(s->repo); // before the draft, which it writes to
    draft_free(s->draft);
    commit_record_release(&s->base_record);
    commit_record_release(&s->new_record);
    submission_end_turn(s);
    free(s);
}

void submission_end_turn(Submission *s) {
    if (s->turn_of)
        submit_turn_give(s->turn_of);
    s->turn_of = 0;
}

static void submission_drop(Submission **s) {
    submission_free(*s);
}

// ---- engine, preset, book

json_t *submit_engine(Request *req, const char *name, Error *err) {
    json_auto_t *names = db_rows(req->turn->db, SQL_ENGINE_NAMES, "");
    if (!*name && json_array_size(names) == 1)
        name = json_string_value(json_object_get(json_array_get(names, 0), "name"));
    json_t *engine = db_row(req->turn->db, SQL_ENGINE_BY_NAME, "s", name);
    if (!engine)
        error_field(err, 422, "no_such_engine", "engine",
                    "engine: there is no engine '%.40s' on this server", name);
    return engine;
}

static bool find_engine(Request *req, Submission *s, Error *err) {
    s->engine = submit_engine(req, field_text(s->fields, "engine"), err);
    s->engine_id = member_int(s->engine, "id");
    return s->engine;
}

static bool may_submit(Request *req, const Submission *s, Error *err) {
    if (viewer_submits(req->turn->db, &req->viewer, s->engine_id))
        return true;
    return error_set(
        err, 403, "forbidden",
        "submitting tests of this engine needs the role developer; ask a maintainer or "
        "the operator for it");
}

// What the preset says counts where the submission says nothing.
static bool use_preset(Request *req, Submission *s, Error *err) {
    const char *name = field_text(s->fields, "preset");
    if (!*name)
        return true;
    json_auto_t *row = db_row(req->turn->db, SQL_PRESET_BY_NAME, "is", s->engine_id, name);
    json_auto_t *preset = submit_fields_of_json(json_object_get(row, "fields"), err);
    if (!row || !preset)
        return error_field(err, 422, "no_such_preset", "preset",
                           "preset: the engine has no preset '%.60s'", name);
    json_object_update_missing(s->fields, preset);
    return submit_fields_check(s->fields, err);
}

bool submit_book_suits(const json_t *book, const json_t *fields, Error *err) {
    bool chess960 = strcmp(field_text(fields, "variant"), "chess960") == 0;
    return member_int(book, "chess960") <= chess960 ||
           error_field(err, 422, "bad_field", "book",
                       "book: %.60s is of Chess960 openings; set variant to chess960",
                       field_text(fields, "book"));
}

static bool find_book(Request *req, Submission *s, Error *err) {
    const char *name = field_text(s->fields, "book");
    bool chess960 = strcmp(field_text(s->fields, "variant"), "chess960") == 0;
    json_auto_t *row =
        *name ? db_row(req->turn->db, SQL_BOOK_BY_NAME, "is", s->engine_id, name)
              : db_row(req->turn->db, SQL_BOOK_DEFAULT, "ii", s->engine_id, (int64_t)chess960);
    s->book_id = member_int(row, "id");
    if (!row) {
        char *names scope(free_ptr) = db_text(req->turn->db, SQL_BOOK_NAMES, "i", s->engine_id);
        return error_field(err, 422, "no_such_book", "book",
                           "book: the engine has no book '%.60s'%s; it has %.300s", name,
                           *name ? "" : " for this variant", names && *names ? names : "none");
    }
    return !*name || submit_book_suits(row, s->fields, err);
}

bool submit_resolve_fields(Request *req, Submission *s, Error *err) {
    if (!submit_fields_check(s->fields, err) || !find_engine(req, s, err) ||
        !may_submit(req, s, err) || !use_preset(req, s, err))
        return false;
    submit_fields_complete(s->fields);
    return submit_fields_agree(s->fields, err) && find_book(req, s, err);
}

// ---- how much a user may ask for

static bool take_turn(Request *req, Submission *s, Error *err) {
    if (!submit_turn_take(req->viewer.user_id))
        return error_set(err, 429, "one_at_a_time",
                         "another submission of yours is being looked at; send this one after it");
    s->turn_of = req->viewer.user_id;
    return true;
}

// Those who approve tests may have as many as they like.
static bool check_pending(Request *req, const Submission *s, Error *err) {
    long limit;
    if (!parse_long(request_setting(req, "pending_tests", ""), 1, 1000000, &limit))
        limit = PENDING_TESTS;
    int64_t pending = db_int(req->turn->db, SQL_TESTS_PENDING_OF, 0, "i", req->viewer.user_id);
    return pending < limit || s->retest_of ||
           viewer_has_role(req->turn->db, &req->viewer, s->engine_id, "maintainer") ||
           error_set(err, 409, "too_many_pending",
                     "%lld of your tests wait for approval, at most %ld may; wait, or stop some",
                     (long long)pending, limit);
}

static bool open_draft(Request *req, Submission *s, Error *err) {
    s->repo = repo_open(req->site->data, member_text(s->engine, "name"), err);
    s->draft = s->repo ? draft_new(req->site->data, err) : NULL;
    return s->draft && draft_take_git(s->draft, s->repo, err);
}

static bool make_commits(Request *req, Submission *s, Error *err) {
    if (submit_make_commits(req, s, err))
        return true;
    return draft_is_full(s->draft)
               ? error_field(err, 422, "patch_too_large", "patch",
                             "patch: the files that it changes have over %d MiB together",
                             DRAFT_BYTES_MAX >> 20)
               : false;
}

Submission *submit_prepare(Request *req, Error *err) {
    Submission *s scope(submission_drop) = xcalloc(1, sizeof *s);
    s->fields = submit_fields_read(req, err);
    if (!s->fields || !submit_resolve_fields(req, s, err))
        return NULL;
    if (!take_turn(req, s, err) || !check_pending(req, s, err) || !open_draft(req, s, err) ||
        !make_commits(req, s, err) || !submit_ground(req, s, err) ||
        !submit_take_net(req, s, err) || !draft_seal(s->draft, err))
        return NULL;
    Submission *done = s;
    s = NULL;
    return done;
}

// ---- rows

// Writes the commit's row where there is none.
static bool store_commit(Request *req, const Submission *s, const CommitRecord *record,
                         Error *err) {
    return !record->snapshot[0] ||
           commit_record(req->turn->db, s->engine_id, record, req->turn->now, err);
}

static bool insert_test(Request *req, const Submission *s, Error *err) {
    const json_t *f = s->fields;
    json_auto_t *adjudication = field_adjudication(f);
    char *rules scope(free_ptr) = json_dumps(adjudication, JSON_COMPACT | JSON_SORT_KEYS);
    return db_run(req->turn->db, err, SQL_TEST_ADD, "iissdssssssddddsiiissiiiiiii", s->engine_id,
                  s->author_id ? s->author_id : req->viewer.user_id, field_text(f, "title"),
                  field_text(f, "description"), req->turn->now, s->base, s->new,
                  field_text(f, "base_options"), field_text(f, "new_options"),
                  field_text(f, "kind"), field_text(f, "model"), field_real(f, "elo0"),
                  field_real(f, "elo1"), field_real(f, "alpha"), field_real(f, "beta"),
                  field_text(f, "tc"), field_whole(f, "threads"), s->book_id,
                  field_whole(f, "seed"), field_text(f, "variant"), rules,
                  field_whole(f, "batch_pairs"), field_whole(f, "pairs_max"),
                  field_whole(f, "priority"), s->retest_of, (int64_t)s->base_in_baseline, s->bench,
                  s->base_bench);
}

// Order: blobs and objects are there, now the reference, and the COMMIT ends the turn. A reference
// whose COMMIT fails is removed.
int64_t submit_store(Request *req, Submission *s, Error *err) {
    bool is_new;
    if (!submit_ground_again(req, s, err) || !check_pending(req, s, err))
        return 0;
    if (s->net.size && !net_upload_store(req, s->engine, &s->net, &is_new, err))
        return 0;
    if (!store_commit(req, s, &s->base_record, err) || !store_commit(req, s, &s->new_record, err) ||
        !insert_test(req, s, err))
        return 0;
    int64_t test = db_last_id(req->turn->db);
    turn_moves_git(req->turn);
    if (s->draft && !draft_publish(s->draft, err))
        return 0;
    if (!repo_test_ref_set(s->repo, test, s->new, err))
        return 0;
    ledger_event(req->turn, "submitted", req->viewer.user_id, 0, test, "%s",
                 field_text(s->fields, "title"));
    turn_publish(req->turn, "test",
                 json_pack("{s:I, s:s}", "id", (json_int_t)test, "state", "pending"));
    return test;
}

// A side without nets has no such member.
static void drop_null(json_t *row, const char *name) {
    if (json_is_null(json_object_get(row, name)))
        json_object_del(row, name);
}

bool submit_approval_hash(Db *db, int64_t test, char hash[65]) {
    json_auto_t *row = db_row(db, SQL_TEST_APPROVAL, "i", test);
    if (!row)
        return false;
    drop_null(row, "base_files");
    drop_null(row, "new_files");
    char *text scope(free_ptr) = json_dumps(row, JSON_COMPACT | JSON_SORT_KEYS);
    sha256_hex(text, strlen(text), hash);
    return true;
}
