// Submitting, changing and approving a test, without a server.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/common/json_member.h"
#include "server/ledger/ledger.h"
#include "server/submit/actions.h"
#include "server/submit/approve.h"
#include "server/submit/fields.h"
#include "server/submit/harmful.h"
#include "server/submit/in_progress.h"
#include "server/submit/modify.h"
#include "server/submit/net_upload.h"
#include "server/submit/test_columns.h"
#include "tests/kit/submit_kit.h"

static const char PATCH[] = "--- a/main.c\n+++ b/main.c\n@@ -1,3 +1,3 @@\n int main(void) {\n"
                            "-    return 0;\n+    return 1;\n }\n";

static int64_t submitted(SubmitKit *kit, const char *fields) {
    submit_kit_as(kit, KIT_AUTHOR);
    int64_t test = submit_kit_submit(kit, fields, PATCH);
    if (!test)
        fail_msg("%s: %s", fields, kit->ledger.err.message);
    return test;
}

static void assert_column(SubmitKit *kit, int64_t test, const char *column, const char *wanted) {
    char *value scope(free_ptr) =
        kit_text(&kit->ledger, "SELECT %s FROM tests WHERE id = %lld", column, (long long)test);
    assert_string_equal(value ? value : "", wanted);
}

static void assert_side(SubmitKit *kit, int64_t test, const char *side, const char *column,
                        const char *wanted) {
    char *value scope(free_ptr) =
        kit_text(&kit->ledger, "SELECT %s FROM sides WHERE test_id = %lld AND side = '%s'", column,
                 (long long)test, side);
    assert_string_equal(value ? value : "", wanted);
}

// The last event of this type.
static void assert_event(SubmitKit *kit, const char *type, const char *message) {
    char *last scope(free_ptr) = kit_text(
        &kit->ledger, "SELECT message FROM events WHERE type = '%s' ORDER BY id DESC", type);
    assert_string_equal(last ? last : "", message);
}

static void a_patch_becomes_a_pending_test_of_a_commit(void **state) {
    SubmitKit *kit = *state;
    int64_t test = submitted(kit, "{\"title\": \"One\", \"elo1\": 3, \"threads\": 2}");
    assert_column(kit, test, "state", "pending");
    assert_column(kit, test, "author_id", "1");
    assert_column(kit, test, "parameters ->> '$.elo1'", "3.0");
    assert_side(kit, test, "new", "threads", "2");
    assert_side(kit, test, "base", "threads", "2");
    assert_side(kit, test, "base", "margin_ms", "5");
    assert_column(kit, test, "coalesce(seed, 'none')", "none");
    assert_column(kit, test, "description", "");
    assert_side(kit, test, "base", "sha", kit->base);
    Error err;
    char sha[REPO_SHA_MAX];
    git_repository *repo scope(repo_free) = repo_open(kit->ledger.folder, "anvil", &err);
    char *commit scope(free_ptr) =
        kit_text(&kit->ledger, "SELECT sha FROM sides WHERE test_id = %lld AND side = 'new'",
                 (long long)test);
    assert_true(repo_resolve(repo, commit, sha, &err));
    assert_true(repo_is_ancestor(repo, kit->base, commit));
    assert_int_equal(kit_int(&kit->ledger, "SELECT count(*) FROM commits WHERE sha = '%s'", commit),
                     1);
}

static void a_submission_is_refused_by_the_field_that_is_wrong(void **state) {
    SubmitKit *kit = *state;
    static const struct {
        const char *fields, *patch, *field, *code;
    } rows[] = {
        {"{\"title\": \"x\"}", NULL, "patch", "missing_field"},
        {"{}", PATCH, "title", "missing_field"},
        {"{\"title\": \"x\", \"commit\": \"main\"}", PATCH, "patch", "bad_field"},
        {"{\"title\": \"x\", \"threads\": 0}", PATCH, "threads", "bad_field"},
        {"{\"title\": \"x\", \"hat\": 0}", PATCH, "hat", "bad_request"},
        {"{\"title\": \"x\", \"elo1\": -1}", PATCH, "elo1", "bad_field"},
        {"{\"title\": \"x\", \"engine\": \"crafty\"}", PATCH, "engine", "no_such_engine"},
        {"{\"title\": \"x\", \"book\": \"none\"}", PATCH, "book", "no_such_book"},
        {"{\"title\": \"x\", \"preset\": \"none\"}", PATCH, "preset", "no_such_preset"},
        {"{\"title\": \"x\", \"base\": \"test:99\"}", PATCH, "base", "no_such_test"},
        {"{\"title\": \"x\", \"base\": \"test:1\"}", PATCH, "base", "base_not_approved"},
        {"{\"title\": \"x\", \"base_bench\": 5}", PATCH, "base_bench", "bad_bench"},
        {"{\"title\": \"x\"}", "no patch", "patch", "patch_not_a_diff"},
    };
    int64_t tests = kit_int(&kit->ledger, "SELECT count(*) FROM tests");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kit->ledger.err = (Error){0};
        if (submit_kit_submit(kit, rows[i].fields, rows[i].patch))
            fail_msg("accepted: %s", rows[i].fields);
        assert_string_equal(kit->ledger.err.field, rows[i].field);
        if (strcmp(kit->ledger.err.code, rows[i].code) != 0)
            fail_msg("%s: %s", rows[i].fields, kit->ledger.err.code);
    }
    assert_int_equal(kit_int(&kit->ledger, "SELECT count(*) FROM tests"), tests);
}

static void only_developers_submit_and_one_at_a_time(void **state) {
    SubmitKit *kit = *state;
    submit_kit_as(kit, KIT_USER);
    assert_int_equal(submit_kit_submit(kit, "{\"title\": \"x\"}", PATCH), 0);
    assert_int_equal(kit->ledger.err.status, 403);
    submit_kit_as(kit, KIT_AUTHOR);
    assert_int_equal(in_progress_begin(KIT_AUTHOR), PROGRESS_BEGUN);
    assert_false(in_progress_close(0));
    assert_int_equal(submit_kit_submit(kit, "{\"title\": \"x\"}", PATCH), 0);
    assert_string_equal(kit->ledger.err.code, "one_at_a_time");
    in_progress_end(KIT_AUTHOR);
    assert_true(in_progress_close(0));
    assert_int_equal(submit_kit_submit(kit, "{\"title\": \"x\"}", PATCH), 0);
    assert_string_equal(kit->ledger.err.code, "busy");
    in_progress_open();
    kit_sql(&kit->ledger, "INSERT INTO settings VALUES ('pending_tests', '1')");
    assert_int_equal(submit_kit_submit(kit, "{\"title\": \"x\"}", PATCH), 0);
    assert_string_equal(kit->ledger.err.code, "too_many_pending");
}

static Submission *check(SubmitKit *kit, const char *fields, const char *patch, json_t *problems) {
    json_auto_t *object = json_loads(fields, 0, NULL);
    SubmitInput input = {.fields = submit_fields_of_json(object, &kit->ledger.err)};
    json_object_set_new(input.fields, "patch", json_string(patch));
    return submit_check(&kit->caller, input, problems, &kit->ledger.err);
}

// While it is not freed, it is in progress; afterwards the same person may submit.
static void a_check_tells_all_faults_and_writes_nothing(void **state) {
    SubmitKit *kit = *state;
    json_auto_t *none = json_array(), *problems = json_array();
    submit_kit_as(kit, KIT_AUTHOR);
    int64_t tests = kit_int(&kit->ledger, "SELECT count(*) FROM tests"),
            commits = kit_int(&kit->ledger, "SELECT count(*) FROM commits");
    Submission *good = check(kit, "{\"title\": \"x\"}", PATCH, none);
    assert_non_null(good);
    assert_int_equal(json_array_size(none), 0);
    assert_true(good->is_complete && *good->identity.tree);
    assert_null(check(kit, "{\"title\": \"x\"}", PATCH, none));
    assert_string_equal(kit->ledger.err.code, "one_at_a_time");
    submission_free(good);
    Submission *bad =
        check(kit, "{\"threads\": 0, \"elo1\": -1, \"book\": \"none\", \"base_bench\": 5}", PATCH,
              problems);
    assert_non_null(bad);
    assert_false(bad->is_complete);
    static const char *const fields[] = {"threads", "elo1", "book", "title", "base_bench"};
    assert_int_equal(json_array_size(problems), sizeof fields / sizeof *fields);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        assert_string_equal(member_text(json_array_get(problems, i), "field"), fields[i]);
    submission_free(bad);
    assert_int_equal(kit_int(&kit->ledger, "SELECT count(*) FROM tests"), tests);
    assert_int_equal(kit_int(&kit->ledger, "SELECT count(*) FROM commits"), commits);
    assert_true(submitted(kit, "{\"title\": \"x\"}") > 0);
    submit_kit_as(kit, KIT_USER);
    assert_null(check(kit, "{\"threads\": 0}", PATCH, problems));
    assert_int_equal(kit->ledger.err.status, 403);
}

static bool approve(SubmitKit *kit, int64_t test) {
    Ground ground = {0};
    const Caller *caller = submit_kit_as(kit, KIT_MAINTAINER);
    return submit_approve_prepare(caller, test, false, &ground, &kit->ledger.err) &&
           submit_approve(caller, test, &ground, "", &kit->ledger.err);
}

static bool modify(SubmitKit *kit, int64_t user, int64_t test, const char *fields) {
    json_auto_t *object = json_loads(fields, 0, NULL);
    kit->ledger.err = (Error){0};
    return submit_modify(submit_kit_as(kit, user), test,
                         submit_fields_of_json(object, &kit->ledger.err), &kit->ledger.err);
}

static void a_change_of_the_code_that_runs_withdraws_the_approval(void **state) {
    SubmitKit *kit = *state;
    int64_t test = submitted(kit, "{\"title\": \"One\", \"description\": \"two\\nlines\"}");
    assert_true(approve(kit, test));
    assert_true(modify(kit, KIT_AUTHOR, test, "{\"title\": \"Two\", \"priority\": -1}"));
    assert_column(kit, test, "state || title || priority", "activeTwo-1");
    assert_column(kit, test, "description", "two\nlines");
    assert_false(modify(kit, KIT_AUTHOR, test, "{\"workload\": \"fixed\"}"));
    assert_string_equal(kit->ledger.err.field, "workload");
    assert_true(modify(kit, KIT_AUTHOR, test, "{\"tc\": \"1+0.01\"}"));
    assert_column(kit, test, "state", "pending");
    assert_side(kit, test, "new", "tc", "1+0.01");
    assert_side(kit, test, "base", "tc", "1+0.01");
}

// Whether a change by this person, of a test that is approved anew, leaves it approved. If it does,
// the approval covers what the test is now.
static bool stays_approved(SubmitKit *kit, int64_t user, int64_t test, const char *fields) {
    char hash[SHA256_HEX_MAX];
    assert_true(approve(kit, test));
    assert_true(modify(kit, user, test, fields));
    bool stays = kit_int(&kit->ledger, "SELECT state = 'active' FROM tests WHERE id = %lld",
                         (long long)test);
    assert_true(test_approval_hash(kit->ledger.db, test, hash));
    assert_int_equal(kit_int(&kit->ledger,
                             "SELECT approved_hash IS '%s' FROM tests WHERE id = %lld", hash,
                             (long long)test),
                     stays);
    if (stays)
        assert_true(ledger_test_withdraw(&kit->ledger.turn, test, 0, "again", &kit->ledger.err));
    return stays;
}

static void what_widens_an_approved_test_takes_the_approval_back(void **state) {
    SubmitKit *kit = *state;
    int64_t test = submitted(kit, "{\"title\": \"One\", \"pairs_max\": 320, \"priority\": -5}");
    static const char *const free_ones[] = {"{\"priority\": 0}", "{\"priority\": -7}",
                                            "{\"pairs_max\": 160}", "{\"title\": \"Two\"}"};
    static const char *const wide[] = {
        "{\"priority\": 1}",    "{\"pairs_max\": 480}",           "{\"games\": 1600}",
        "{\"tc\": \"9+0.09\"}", "{\"base_options\": \"Hash=8\"}", "{\"adjudication\": \"off\"}"};
    for (size_t i = 0; i < sizeof free_ones / sizeof *free_ones; i++)
        assert_true(stays_approved(kit, KIT_AUTHOR, test, free_ones[i]));
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        assert_false(stays_approved(kit, KIT_AUTHOR, test, wide[i]));
    assert_event(kit, "withdrawn", "approval withdrawn: adjudication from on to off");
    assert_true(stays_approved(kit, KIT_AUTHOR, test, "{\"priority\": 1}")); // as it is by now
    assert_true(stays_approved(kit, KIT_MAINTAINER, test, "{\"tc\": \"8+0.08\", \"priority\": 7}"));
    assert_event(kit, "widened",
                 "changed, and still approved: tc from 9+0.09 to 8+0.08, priority from 1 to 7");
}

static void no_maintainer_widens_an_own_test(void **state) {
    SubmitKit *kit = *state;
    int64_t test = submitted(kit, "{\"title\": \"One\"}");
    kit_sql(&kit->ledger, "UPDATE tests SET author_id = %d WHERE id = %lld", KIT_MAINTAINER,
            (long long)test);
    kit_sql(&kit->ledger, "INSERT OR REPLACE INTO settings VALUES ('self_approval', '1')");
    assert_true(stays_approved(kit, KIT_MAINTAINER, test, "{\"priority\": 3}"));
    assert_true(approve(kit, test));
    kit_sql(&kit->ledger, "UPDATE settings SET value = '0' WHERE name = 'self_approval'");
    assert_true(modify(kit, KIT_MAINTAINER, test, "{\"priority\": 4}"));
    assert_column(kit, test, "state", "pending");
}

static void stored_games_keep_their_settings_whether_they_count_or_not(void **state) {
    SubmitKit *kit = *state;
    int64_t test = submitted(kit, "{\"title\": \"One\"}");
    assert_true(approve(kit, test));
    kit_sql(&kit->ledger, "PRAGMA foreign_keys = 0");
    kit_sql(
        &kit->ledger,
        "INSERT INTO batches (test_id, task_id, worker_id, seq, units, result, tc, speed, busy, "
        "thought, games_sha256, received, waits) "
        "VALUES (%lld, 1, 1, 0, 16, '{}', '10+0.1', 1, 1, 1, 'x', 1, 1)",
        (long long)test);
    assert_false(modify(kit, KIT_MAINTAINER, test, "{\"tc\": \"1+0.01\"}"));
    assert_string_equal(kit->ledger.err.code, "has_results");
    assert_true(modify(kit, KIT_MAINTAINER, test, "{\"priority\": 2}"));
}

static void a_finished_test_keeps_all_but_its_words(void **state) {
    SubmitKit *kit = *state;
    assert_true(submit_stop(submit_kit_as(kit, KIT_AUTHOR), 1, "", &kit->ledger.err));
    assert_false(modify(kit, KIT_AUTHOR, 1, "{\"threads\": 2}"));
    assert_string_equal(kit->ledger.err.code, "wrong_state");
    assert_string_equal(kit->ledger.err.field, "threads");
    assert_true(modify(kit, KIT_AUTHOR, 1, "{\"title\": \"Stopped\"}"));
    assert_column(kit, 1, "title", "Stopped");
}

static void an_approval_covers_the_diff_that_was_seen(void **state) {
    SubmitKit *kit = *state;
    Ground ground = {0};
    const Caller *caller = submit_kit_as(kit, KIT_MAINTAINER);
    assert_true(submit_approve_prepare(caller, 1, false, &ground, &kit->ledger.err));
    assert_false(submit_approve(caller, 1, &ground, "another hash", &kit->ledger.err));
    assert_string_equal(kit->ledger.err.code, "changed");
    kit_sql(&kit->ledger, "UPDATE tests SET harmful = 1 WHERE id = 1");
    assert_false(submit_approve(caller, 1, &ground, "", &kit->ledger.err));
    assert_string_equal(kit->ledger.err.code, "conflict");
}

static void a_harmful_commit_ends_the_tests_that_are_built_on_it(void **state) {
    SubmitKit *kit = *state;
    Error *err = &kit->ledger.err;
    assert_true(approve(kit, 1));
    int64_t above = submitted(kit, "{\"title\": \"Above\", \"base\": \"test:1\"}");
    json_auto_t *stopped = json_array();
    const Caller *caller = submit_kit_as(kit, KIT_MAINTAINER);
    Harm *harm = submit_harmful_prepare(caller, 1, err);
    assert_non_null(harm);
    assert_true(submit_harmful(caller, harm, "it mines", stopped, err));
    harm_free(harm);
    assert_int_equal(json_integer_value(json_array_get(stopped, 0)), above);
    assert_column(kit, above, "state", "finished");
    submit_kit_as(kit, KIT_AUTHOR);
    assert_int_equal(submit_kit_submit(kit, "{\"title\": \"x\", \"base\": \"test:1\"}", PATCH), 0);
    assert_string_equal(err->code, "harmful_commit");
}

static void a_net_is_stored_once_under_its_hash(void **state) {
    SubmitKit *kit = *state;
    Error *err = &kit->ledger.err;
    const Caller *caller = submit_kit_as(kit, KIT_AUTHOR);
    NetUpload net;
    NetFile file = {.bytes = "weights", .size = 7, .file_name = "folder/first.net", .sha256 = ""};
    bool is_new;
    SqlEngineById engine scope(sql_row_free) = {0};
    assert_true(submit_engine(kit->ledger.db, "", &engine, err));
    assert_true(net_upload_prepare(caller, &file, "", &net, err));
    assert_string_equal(net.name, "first.net");
    assert_true(net_upload_store(caller, &engine, &net, &is_new, err) && is_new);
    assert_true(net_upload_store(caller, &engine, &net, &is_new, err) && !is_new);
    file.sha256 = "00";
    assert_false(net_upload_prepare(caller, &file, "", &net, err));
    assert_string_equal(err->field, "sha256");
    file.bytes = NULL;
    assert_false(net_upload_prepare(caller, &file, "", &net, err));
    assert_string_equal(err->code, "missing_field");
}

#define WITH_KIT(test)                                                                             \
    cmocka_unit_test_setup_teardown(test, submit_kit_set_up, submit_kit_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_KIT(a_patch_becomes_a_pending_test_of_a_commit),
        WITH_KIT(a_submission_is_refused_by_the_field_that_is_wrong),
        WITH_KIT(only_developers_submit_and_one_at_a_time),
        WITH_KIT(a_check_tells_all_faults_and_writes_nothing),
        WITH_KIT(a_change_of_the_code_that_runs_withdraws_the_approval),
        WITH_KIT(what_widens_an_approved_test_takes_the_approval_back),
        WITH_KIT(no_maintainer_widens_an_own_test),
        WITH_KIT(stored_games_keep_their_settings_whether_they_count_or_not),
        WITH_KIT(a_finished_test_keeps_all_but_its_words),
        WITH_KIT(an_approval_covers_the_diff_that_was_seen),
        WITH_KIT(a_harmful_commit_ends_the_tests_that_are_built_on_it),
        WITH_KIT(a_net_is_stored_once_under_its_hash),
    };
    return cmocka_run_group_tests_name("submit_tests", tests, NULL, NULL);
}
