// A workload that plays no games goes the whole way of a test: submitted, dealt, counted, counted
// again, audited, ended and shown. Also tests that another version of a workload counted.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/json_member.h"
#include "server/http/request.h"
#include "server/pages/doc.h"
#include "server/pages/page.h"
#include "server/routes/worker_task_document.h"
#include "tests/kit/submit_kit.h"
#include "tests/kit/workload_counting.h"

static const char patch[] = "--- a/main.c\n+++ b/main.c\n@@ -1,3 +1,3 @@\n int main(void) {\n"
                            "-    return 0;\n+    return 1;\n }\n";
static SubmitKit kit;
static LedgerKit *ledger = &kit.ledger;
static Site site;
static int64_t test, task;
static BatchReply posted;

static int set_up(void **state) {
    (void)state;
    counting_end = (CountingEnd){0};
    if (!submit_kit_open(&kit))
        return -1;
    site.data = ledger->folder;
    kit_sql(ledger, "INSERT INTO settings VALUES ('task_seconds', '155')"); // 8 units of 4 cores
    test = submit_kit_submit(&kit,
                             "{\"title\": \"Count\", \"workload\": \"counting\", "
                             "\"first_position\": 5, \"elo1\": 3, \"batch_pairs\": 4}",
                             patch);
    if (!test)
        return -1;
    kit_activate(ledger, test);
    task = kit_claim(ledger, 1, 4, 0);
    return task > 0 ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    submit_kit_close(&kit);
    return 0;
}

static bool post(int64_t of, int64_t worker, int64_t seq, const char *result) {
    json_auto_t *object = json_loads(result, 0, NULL);
    Batch batch = kit_batch(of, worker, seq, object);
    assert_non_null(object);
    return ledger_batch(&ledger->turn, &batch, &posted, &ledger->err);
}

static void assert_stored(const char *column, const char *wanted) {
    char *value scope(free_ptr) =
        kit_text(ledger, "SELECT %s FROM tests WHERE id = %lld", column, (long long)test);
    assert_string_equal(value ? value : "", wanted);
}

// The last of the twelve units counts, and so the test ends.
static void count_all(void) {
    assert_true(post(task, 1, 0, "{\"nodes\": [10, 10, 10, 10]}"));
    assert_true(post(task, 1, 1, "{\"nodes\": [100, 100, 100, 100]}"));
    int64_t next = kit_claim(ledger, 3, 4, 0);
    assert_true(next > 0);
    assert_true(post(next, 3, 0, "{\"nodes\": [1000, 1000, 1000, 1000]}"));
}

// ---- the way of its tests -----------------------------------------------------------------------

static void its_test_has_only_its_own_parameters(void **state) {
    (void)state;
    assert_stored("workload", "counting");
    assert_stored("parameters", "{\"first_position\":5,\"remark\":\"none\"}");
    assert_stored("pairs_max", "12");
}

static void what_it_tells_a_machine_is_stored_with_the_task(void **state) {
    (void)state;
    char *told scope(free_ptr) =
        kit_text(ledger, "SELECT told FROM tasks WHERE id = %lld", (long long)task);
    assert_string_equal(told, "{\"first_unit\":0,\"nodes\":0,\"numbers\":[5,6,7,8,9,10,11,12]}");
    RequestData *data = request_new(&site, "/");
    data->req.turn = &ledger->turn;
    data->req.viewer.worker_id = 1;
    assert_true(task_document(&data->req, &data->res, task, &ledger->err));
    json_auto_t *document = json_loads(data->res.body.data, 0, NULL),
                *wanted = json_loads(told, 0, NULL);
    assert_true(json_equal(json_object_get(document, "told"), wanted));
    assert_int_equal(json_array_size(json_object_get(document, "openings")), 0);
    request_free(data);
}

static void its_results_are_summed_and_it_ends_with_its_last_unit(void **state) {
    (void)state;
    assert_true(post(task, 1, 0, "{\"nodes\": [10, 10, 10, 10]}"));
    assert_true(posted.counted && posted.task.continues);
    assert_int_equal(posted.units, 4);
    assert_string_equal(posted.summary, "40 nodes");
    assert_int_equal(kit_check(ledger), 0);
    assert_true(post(task, 1, 1, "{\"nodes\": [100, 100, 100, 100]}"));
    assert_stored("counts", "{\"nodes\":440,\"v\":3}");
    assert_stored("points", "{\"nodes\":440}");
    assert_stored("state", "active");
    assert_int_equal(counting_end.calls, 0);
    int64_t next = kit_claim(ledger, 3, 4, 0);
    assert_int_equal(kit_int(ledger, "SELECT max(told ->> 'nodes') FROM tasks"), 440);
    assert_true(post(next, 3, 0, "{\"nodes\": [1000, 1000, 1000, 1000]}"));
    assert_stored("state || ' ' || result", "finished completed");
    assert_stored("reason", "4440 nodes after 12 units");
    assert_string_equal(posted.task.why, "finished");
    assert_int_equal(kit_int(ledger, "SELECT sum(games) FROM workers"), 0);
    assert_int_equal(kit_check(ledger), 0);
}

static void a_result_that_does_not_fit_what_was_told_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *result, *code, *field;
    } bad[] = {{"{\"nodes\": [10, 10, 10]}", "bad_counts", "nodes"},
               {"{\"nodes\": [10, 10, 10, 10, 10]}", "bad_counts", "nodes"},
               {"{\"nodes\": [10, 10, 6, 10]}", "bad_counts", "nodes"},
               {"{\"nodes\": 10}", "bad_request", "result"},
               {"{\"outcomes\": \"2222\"}", "bad_request", "result"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(post(task, 1, 0, bad[i].result));
        assert_string_equal(ledger->err.code, bad[i].code);
        assert_string_equal(ledger->err.field, bad[i].field);
    }
    assert_true(post(task, 1, 0, "{\"nodes\": [5, 6, 7, 8]}"));
    assert_false(post(task, 1, 1, "{\"nodes\": [5, 6, 7, 8]}")); // of other positions
    assert_string_equal(ledger->err.code, "bad_counts");
    assert_true(post(task, 1, 1, "{\"nodes\": [9, 10, 11, 12]}"));
    assert_stored("counts", "{\"nodes\":68,\"v\":3}");
}

static void it_has_no_games(void **state) {
    (void)state;
    char sha[65] = "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd";
    assert_false(ledger_games(&ledger->turn, task, 1, 0, sha, 99, &ledger->err));
    assert_int_equal(ledger->err.status, 409);
    assert_string_equal(ledger->err.code, "no_games");
}

static void it_is_counted_again_after_an_exclusion(void **state) {
    (void)state;
    Excluded changed;
    assert_true(post(task, 1, 0, "{\"nodes\": [10, 10, 10, 10]}"));
    kit_let_go(ledger);
    int64_t next = kit_claim(ledger, 3, 4, 0);
    assert_true(post(next, 3, 0, "{\"nodes\": [1000, 1000, 1000, 1000]}"));
    assert_true(kit_exclude(ledger, test, 1, "all", &changed));
    assert_int_equal(changed.pairs, 4);
    assert_stored("counts || units_counted", "{\"nodes\":4000,\"v\":3}4");
    assert_int_equal(kit_check(ledger), 0);
    assert_true(kit_include(ledger, test, 1, &changed));
    assert_stored("counts || units_counted", "{\"nodes\":4040,\"v\":3}8");
    assert_int_equal(kit_check(ledger), 0);
}

static void the_audit_sees_a_sum_that_is_not_counted(void **state) {
    (void)state;
    static const char *const damages[] = {
        "UPDATE tests SET counts = json_set(counts, '$.nodes', 441) WHERE workload = 'counting'",
        "UPDATE tests SET points = json_set(points, '$.nodes', 441) WHERE workload = 'counting'",
        "UPDATE tests SET units_counted = 4 WHERE workload = 'counting'",
        "UPDATE batches SET result = '{\"nodes\":[10,10,10,11]}' WHERE seq = 0",
    };
    assert_true(post(task, 1, 0, "{\"nodes\": [10, 10, 10, 10]}"));
    assert_true(post(task, 1, 1, "{\"nodes\": [100, 100, 100, 100]}"));
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        assert_int_equal(kit_check(ledger), 0);
        FILE *nowhere = fopen("/dev/null", "w");
        kit_sql(ledger, "%s", damages[i]);
        if (ledger_check(ledger->db, nowhere) == 0)
            fail_msg("unseen: %s", damages[i]);
        fclose(nowhere);
        kit_sql(ledger, "UPDATE tests SET units_counted = 8, counts = '{\"nodes\":440,\"v\":3}', "
                        "points = '{\"nodes\":440}' WHERE workload = 'counting'");
    }
}

// ---- its end ------------------------------------------------------------------------------------

static void its_workload_learns_of_every_end(void **state) {
    (void)state;
    count_all();
    assert_int_equal(counting_end.calls, 1);
    assert_int_equal(counting_end.test, test);
    assert_string_equal(counting_end.result, "completed");
    assert_string_equal(counting_end.state, "finished");
    static const char *const results[] = {"stopped", "failed"};
    for (size_t i = 0; i < 2; i++) {
        tear_down(state);
        set_up(state);
        assert_true(ledger_test_finish(&ledger->turn, test, 2, results[i], results[i], "because",
                                       &ledger->err));
        assert_int_equal(counting_end.calls, 1);
        assert_string_equal(counting_end.result, results[i]);
    }
}

static void an_end_that_its_workload_refuses_is_none(void **state) {
    (void)state;
    counting_end.refuses = true;
    assert_false(ledger_test_stop(&ledger->turn, test, 2, "because", &ledger->err));
    assert_string_equal(ledger->err.code, "refused");
}

static void a_test_of_an_unknown_workload_can_be_stopped(void **state) {
    (void)state;
    kit_sql(ledger, "UPDATE tests SET workload = 'spsa' WHERE id = %lld", (long long)test);
    assert_true(ledger_test_stop(&ledger->turn, test, 2, "because", &ledger->err));
    assert_stored("state", "finished");
}

// ---- what people see ----------------------------------------------------------------------------

static DocContext context(void) {
    return (DocContext){
        .db = ledger->db, .now = ledger->turn.now, .viewer = &kit.viewer, .data = ledger->folder};
}

static void its_documents_have_its_members_and_none_of_games(void **state) {
    (void)state;
    count_all();
    DocContext ctx = context();
    json_auto_t *document = doc_test(&ctx, test, &ledger->err),
                *history = doc_history(&ctx, test, &ledger->err);
    const json_t *stats = json_object_get(document, "stats");
    static const char *const of_games[] = {"games", "ptnml", "wins", "plain", "llr", "bounds"};
    assert_int_equal(member_int(stats, "nodes"), 4440);
    assert_int_equal(member_int(stats, "units"), 12);
    assert_string_equal(member_text(stats, "remark"), "none");
    assert_string_equal(member_text(stats, "terms"), "from 5");
    assert_string_equal(member_text(stats, "panel"), "workload_counting");
    assert_string_equal(member_text(stats, "color"), "");
    for (size_t i = 0; i < sizeof of_games / sizeof *of_games; i++)
        assert_null(json_object_get(stats, of_games[i]));
    json_auto_t *nodes = json_pack("{s:[f, f, f]}", "nodes", 40.0, 440.0, 4440.0),
                *units = json_pack("[i, i, i]", 4, 8, 12);
    assert_true(json_equal(json_object_get(history, "points"), nodes));
    assert_true(json_equal(json_object_get(history, "units"), units));
    assert_int_equal(json_array_size(json_object_get(history, "games")), 0);
}

// The page of the test with the templates of a folder. New.
static char *page_from(const char *templates) {
    if (!page_load_from(templates, "web/static", &ledger->err))
        fail_msg("%s", ledger->err.message);
    char *path scope(free_ptr) = xasprintf("/tests/%lld", (long long)test);
    RequestData *data = request_new(&site, path);
    DocContext ctx = context();
    data->req.turn = &ledger->turn;
    if (!page_test(&data->req, &data->res, doc_test(&ctx, test, &ledger->err), &ledger->err))
        fail_msg("%s", ledger->err.message);
    assert_int_equal(data->res.status, 200);
    char *html = xstrdup(data->res.body.data);
    request_free(data);
    return html;
}

// The pages' templates in another folder, to which a test adds its own.
static void link_templates(const char *folder) {
    char *templates = realpath("web/templates", NULL);
    DIR *dir = opendir(templates);
    assert_int_equal(mkdir(folder, 0700), 0);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char *from scope(free_ptr) = xasprintf("%s/%s", templates, entry->d_name),
                   *to scope(free_ptr) = xasprintf("%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            assert_int_equal(symlink(from, to), 0);
    }
    closedir(dir);
    free(templates);
}

// The rest of the page is the same without a template of the workload.
static void its_page_needs_no_template_and_shows_one_that_is_there(void **state) {
    (void)state;
    count_all();
    char *bare scope(free_ptr) = page_from("web/templates");
    assert_non_null(strstr(bare, "</html>"));
    assert_non_null(strstr(bare, "id=\"verdict\""));
    assert_null(strstr(bare, "id=\"counted\""));
    char *folder scope(free_ptr) = xasprintf("%s/templates", ledger->folder),
                 *file scope(free_ptr) = xasprintf("%s/workload_counting.html", folder);
    static const char panel[] = "<p id=\"counted\">{{stats.nodes}} in {{stats.units}}</p>\n";
    link_templates(folder);
    assert_true(file_write_durable(file, panel, sizeof panel - 1, &ledger->err));
    char *full scope(free_ptr) = page_from(folder);
    assert_non_null(strstr(full, "<p id=\"counted\">4440 in 12</p>"));
    assert_non_null(strstr(full, "</html>"));
}

static void its_page_has_no_word_of_games(void **state) {
    (void)state;
    static const char *const words[] = {"game",    "Game", "Ptnml", "opening",
                                        "Opening", "LLR",  "draws", "Crashes"};
    count_all();
    char *page scope(free_ptr) = page_from("web/templates");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strstr(page, words[i]);
        if (at)
            fail_msg("%s: %.200s", words[i], at - 100);
    }
}

// ---- another version ----------------------------------------------------------------------------

static bool count_again(void) {
    return ledger_recount_outdated(&ledger->turn, &ledger->err);
}

static void results_of_another_version_are_counted_again_at_start(void **state) {
    (void)state;
    assert_true(post(task, 1, 0, "{\"nodes\": [10, 10, 10, 10]}"));
    assert_true(post(task, 1, 1, "{\"nodes\": [100, 100, 100, 100]}"));
    kit_sql(ledger, "UPDATE tests SET counts = '{\"n\":9,\"v\":2}', points = '{\"n\":9}', "
                    "units_counted = 1 WHERE workload = 'counting'");
    kit_sql(ledger, "UPDATE history SET state = '{\"n\":1}'");
    DocContext ctx = context();
    json_auto_t *outdated = doc_test(&ctx, test, &ledger->err);
    assert_null(json_object_get(json_object_get(outdated, "stats"), "units"));
    assert_true(count_again());
    assert_stored("counts || points || units_counted", "{\"nodes\":440,\"v\":3}{\"nodes\":440}8");
    assert_int_equal(kit_check(ledger), 0);
}

static void a_machine_learns_of_results_of_another_version_until_then(void **state) {
    (void)state;
    kit_sql(ledger, "UPDATE tests SET counts = '{\"v\":2}' WHERE workload = 'counting'");
    assert_false(post(task, 1, 0, "{\"nodes\": [10, 10, 10, 10]}"));
    assert_int_equal(ledger->err.status, 500);
    assert_true(count_again());
    assert_true(post(task, 1, 0, "{\"nodes\": [10, 10, 10, 10]}"));
}

static void results_of_this_version_stay_as_they_are(void **state) {
    (void)state;
    assert_true(post(task, 1, 0, "{\"nodes\": [10, 10, 10, 10]}"));
    kit_sql(ledger, "UPDATE tests SET counts = '{\"nodes\":41,\"v\":3}' WHERE workload = "
                    "'counting'");
    assert_true(count_again());
    assert_stored("counts", "{\"nodes\":41,\"v\":3}");
}

// An old version would have gone on, so that the last batch has come already.
static void an_open_test_ends_if_its_new_results_decide_it_and_a_verdict_stays(void **state) {
    (void)state;
    assert_true(post(task, 1, 0, "{\"nodes\": [10, 10, 10, 10]}"));
    assert_true(post(task, 1, 1, "{\"nodes\": [100, 100, 100, 100]}"));
    kit_sql(ledger, "UPDATE tests SET pairs_max = 8, counts = '{\"v\":2}' WHERE workload = "
                    "'counting'");
    assert_true(count_again());
    assert_stored("state || ' ' || result", "finished completed");
    assert_int_equal(counting_end.calls, 1);
    kit_sql(ledger, "UPDATE tests SET counts = '{\"v\":2}', result = 'accepted' WHERE workload = "
                    "'counting'");
    assert_true(count_again());
    assert_stored("counts || result", "{\"nodes\":440,\"v\":3}accepted");
    assert_int_equal(counting_end.calls, 1);
}

#define WITH_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TEST(its_test_has_only_its_own_parameters),
        WITH_TEST(what_it_tells_a_machine_is_stored_with_the_task),
        WITH_TEST(its_results_are_summed_and_it_ends_with_its_last_unit),
        WITH_TEST(a_result_that_does_not_fit_what_was_told_is_refused),
        WITH_TEST(it_has_no_games),
        WITH_TEST(it_is_counted_again_after_an_exclusion),
        WITH_TEST(the_audit_sees_a_sum_that_is_not_counted),
        WITH_TEST(its_workload_learns_of_every_end),
        WITH_TEST(an_end_that_its_workload_refuses_is_none),
        WITH_TEST(a_test_of_an_unknown_workload_can_be_stopped),
        WITH_TEST(its_documents_have_its_members_and_none_of_games),
        WITH_TEST(its_page_needs_no_template_and_shows_one_that_is_there),
        WITH_TEST(its_page_has_no_word_of_games),
        WITH_TEST(results_of_another_version_are_counted_again_at_start),
        WITH_TEST(a_machine_learns_of_results_of_another_version_until_then),
        WITH_TEST(results_of_this_version_stay_as_they_are),
        WITH_TEST(an_open_test_ends_if_its_new_results_decide_it_and_a_verdict_stays),
    };
    workload_add(&workload_counting);
    return cmocka_run_group_tests_name("ledger_workload", tests, NULL, NULL);
}
