// A test as somebody submits it, by the form or by the API: one table of fields with their bounds
// and defaults, then the commits that the fields name or the patch makes, then the rows.
//
// Fields are text by name in a JSON object, whichever way they came. Reading and checking them is
// pure; submit_prepare() runs on a reader thread and leaves objects and blobs on disk;
// submit_store() runs in the turn and makes it a test.
#pragma once

#include <jansson.h>

#include "server/git/commit_record.h"
#include "server/http/handler.h"
#include "server/submit/net_upload.h"

// A patch of 1 MB, percent-encoded or with JSON's escapes; a form may bring a net with it.
enum { SUBMIT_BODY_MAX = 3 << 20, SUBMIT_FORM_MAX = SUBMIT_BODY_MAX + NET_BYTES_MAX };

// When a field of a test that is there already may change.
typedef enum {
    CHANGE_FREELY,  // it says nothing about what runs
    CHANGE_EARLY,   // takes approval back, and only before the first result
    CHANGE_UNDEALT, // as CHANGE_EARLY, and only before openings were dealt
    CHANGE_NEVER,
} FieldChange;

typedef enum {
    FIELD_LINE, // one line of text of low to high bytes
    FIELD_TEXT,
    FIELD_WHOLE, // whole number from low to high
    FIELD_DECIMAL,
    FIELD_CHOICE,  // one of `choices`, divided by '|'
    FIELD_OPTIONS, // UCI options, "Name=value Name=value"
    FIELD_TC,
} FieldKind;

typedef struct FieldRule {
    const char *name;
    FieldKind kind;
    FieldChange change;
    double low, high;
    const char *otherwise; // when absent or empty; NULL: stays absent
    const char *choices;
} FieldRule;

extern const FieldRule submit_rules[]; // ends with name NULL
const FieldRule *submit_rule(const char *name);

// ---- fields

// From a JSON object (numbers, booleans and objects of options become text), refusing names that
// are not in the table; new.
json_t *submit_fields_of_json(const json_t *object, Error *err);
// From the request, whichever it is.
json_t *submit_fields_read(Request *req, Error *err);
// Each field by itself. `fields` loses empty ones.
bool submit_fields_check(json_t *fields, Error *err);
// Fills in what is absent: defaults, and those that follow from others (batch_pairs, pairs_max).
void submit_fields_complete(json_t *fields);
// Sets pairs_max, up to a multiple of a batch: pairs are dealt in whole ones.
void submit_set_pairs(json_t *fields, int64_t pairs, int64_t batch);
// What several fields say together. For complete fields.
bool submit_fields_agree(const json_t *fields, Error *err);

const char *field_text(const json_t *fields, const char *name); // borrowed; "" when absent
int64_t field_whole(const json_t *fields, const char *name);
double field_real(const json_t *fields, const char *name);
json_t *field_adjudication(const json_t *fields); // as in API.md, new

// ---- a submission

typedef struct Submission {
    json_t *fields;
    json_t *engine; // its row
    int64_t engine_id, book_id;
    git_repository *repo;
    Draft *draft;    // what it makes until it is stored; NULL: makes it at once
    int64_t turn_of; // the user who has no other submission meanwhile; 0: nobody
    char base[REPO_SHA_MAX], new[REPO_SHA_MAX];
    CommitRecord base_record, new_record; // without a snapshot where the row is there already
    NetUpload net;                        // that came with the form
    int64_t bench, base_bench;            // declared; 0: not
    int64_t author_id;                    // 0: who asks
    int64_t retest_of;
    bool base_in_baseline; // else it is the commit of a test whose approval stands
    int64_t harmful; // so many commits of the engine were called harmful when it was looked at
} Submission;

void submission_free(void *submission); // fits Request.state_free
// Its author may send the next.
void submission_end_turn(Submission *submission);
enum { PENDING_TESTS = 20 }; // of a user, where the operator says nothing
// Checks everything, creates the commits and snapshots. NULL with an error naming the field.
Submission *submit_prepare(Request *req, Error *err);
// Inserts the rows, sets refs/tests/N, writes the event. Returns the test's id, 0 on error.
int64_t submit_store(Request *req, Submission *submission, Error *err);

// ---- parts

// The row of the engine of that name; the only one needs none. New; NULL: 422.
json_t *submit_engine(Request *req, const char *name, Error *err);
// Finds engine, preset and book; completes and checks the fields.
bool submit_resolve_fields(Request *req, Submission *s, Error *err);
// Whether the openings of a book (its row) are of the fields' variant.
bool submit_book_suits(const json_t *book, const json_t *fields, Error *err);
bool submit_make_commits(Request *req, Submission *s, Error *err);
// The commit's record; without a snapshot where its row is there and none need be made.
bool submit_prepare_record(Request *req, const Submission *s, const char *sha, CommitRecord *out,
                           Error *err);
// The net that came with the form, if any: it must be the one that the new commit names.
bool submit_take_net(Request *req, Submission *s, Error *err);
// The nets that builds of the test need and nobody has uploaded: [{"sha256"}], new.
json_t *submit_missing_nets(Db *db, int64_t test);
// Where the tested commit brings a net that is not in its tree: a commit on top of it that puts it
// there in place of its base's, so that whoever clones has it. Without one `out->info.sha` is "".
// 409 `net_too_large` over NET_MERGE_MAX bytes. `test` as of SQL_TEST_FOR_CHANGE. Any thread.
enum { NET_MERGE_MAX = 2 << 20 };
bool submit_net_commit(Request *req, git_repository *repo, const json_t *test, CommitRecord *out,
                       Error *err);
// The fields of a test that is there, from its row of SQL_TEST_FOR_CHANGE; new.
json_t *submit_fields_of_test(const json_t *row);
// SHA-256 of everything that will run; false: no such test.
bool submit_approval_hash(Db *db, int64_t test, char hash[65]);

// ---- what a test may be built on, and whether its approval stands

// Whether volunteers may build `sha` as a base: it is in the history of the engine's baseline
// (*in_baseline), or the approval of a test of that commit stands. 409 `base_not_approved`.
bool approval_base(Db *db, git_repository *repo, const json_t *engine, const char *sha,
                   bool *in_baseline, Error *err);
// The second half alone, which needs no repository: for bases outside the baseline's history.
bool approval_stands(Db *db, int64_t engine_id, const char *sha, Error *err);
// 409 `harmful_commit` where a commit that was called harmful is `sha` or an ancestor of it.
bool approval_unharmed(Db *db, git_repository *repo, int64_t engine_id, const char *sha,
                       Error *err);
// Pauses the tests that play on an approval that no longer stands. Apply.
bool approval_pause_others(Turn *turn, int64_t engine_id, Error *err);
// Both for a submission, on a reader thread, 422 with the field; and what may have changed since,
// in the turn.
bool submit_ground(Request *req, Submission *s, Error *err);
bool submit_ground_again(Request *req, const Submission *s, Error *err);

// Approves or resumes a test: the first on a reader thread, with git; the second in the turn.
// `unseen_too`: the approver has looked at what the diff names and does not show.
bool submit_approve_prepare(Request *req, int64_t test, bool unseen_too, Error *err);
// `seen`: the hash of what was looked at, "" for whatever is there.
bool submit_approve(Request *req, int64_t test, const char *seen, Error *err);
bool submit_resume_prepare(Request *req, int64_t test, Error *err);
bool submit_resume(Request *req, int64_t test, Error *err);
// A maintainer says that a test's commit does harm: it ends, and with it all open tests that are
// built on the commit (their ids go to `stopped`); later ones are refused.
bool submit_harmful_prepare(Request *req, int64_t test, Error *err);
bool submit_harmful(Request *req, int64_t test, const char *reason, json_t *stopped, Error *err);

// ---- changes to a test

// Its row of SQL_TEST_FOR_CHANGE. NULL: 404, or 403 where the viewer is neither a maintainer nor,
// with `author_too`, the author. New.
json_t *submit_test_for(Request *req, int64_t test, bool author_too, Error *err);
// Changes fields of a test; what runs on the machines of others takes approval back. Apply.
bool submit_modify(Request *req, int64_t test, Error *err);
// Merging: forward where the test's base is still the baseline (to the tested commit, or to that
// with its net on top), else a new test of the patch on the new baseline. The first on a reader
// thread, NULL on error; the second in the turn.
typedef struct Merge Merge;
Merge *submit_merge_prepare(Request *req, int64_t test, Error *err);
void merge_free(void *merge);
// Fills *retest with the new test's id, 0 where the branch moved.
bool submit_merge(Request *req, Merge *merge, int64_t *retest, Error *err);
