// Batches: what is stored, what counts, what ends a test, what the audit sees.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "server/common/json_member.h"
#include "tests/kit/ledger_kit.h"

static LedgerKit kit;
static BatchReply posted;
static TaskReply reply;
static int64_t task;

static int open_task(void **state) {
    (void)state;
    posted = (BatchReply){0};
    task = kit_open_task(&kit);
    return task > 0 ? 0 : -1;
}

static int close_kit(void **state) {
    (void)state;
    kit_close(&kit);
    return 0;
}

// ---- storing ------------------------------------------------------------------------------------

static void a_batch_is_stored_counted_and_answered(void **state) {
    (void)state;
    assert_true(kit_post(&kit, task, 1, 0, "2134", &posted));
    assert_true(posted.counted && !posted.repeat && posted.task.continues);
    assert_int_equal(posted.units, 4);
    assert_int_equal(posted.next_seq, 1);
    assert_int_equal(kit_int(&kit, "SELECT counts -> '$.ptnml' = '[0,1,1,1,1]' FROM tests"), 1);
    assert_int_equal(kit_int(&kit, "SELECT games FROM workers WHERE id = 1"), 8);
    assert_true(kit_post(&kit, task, 1, 1, "2222", &posted));
    assert_string_equal(posted.task.why, "done");
    assert_int_equal(kit_check(&kit), 0);
}

static void a_repeat_changes_nothing(void **state) {
    (void)state;
    assert_true(kit_post(&kit, task, 1, 0, "2134", &posted));
    assert_true(kit_post(&kit, task, 1, 0, "2134", &posted));
    assert_true(posted.repeat && posted.counted);
    assert_int_equal(posted.units, 4);
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM batches"), 1);
}

static void a_repeat_with_other_content_is_a_conflict(void **state) {
    (void)state;
    assert_true(kit_post(&kit, task, 1, 0, "2134", &posted));
    assert_false(kit_post(&kit, task, 1, 0, "2143", &posted));
    assert_string_equal(kit.err.code, "batch_conflict");
    json_auto_t *result = kit_result("2134");
    Batch batch = kit_batch(task, 1, 0, result);
    batch.speed = 2e6;
    assert_false(ledger_batch(&kit.turn, &batch, &posted, &kit.err));
    assert_string_equal(kit.err.code, "batch_conflict");
}

static void a_gap_and_a_batch_past_the_end_are_refused(void **state) {
    (void)state;
    assert_false(kit_post(&kit, task, 1, 1, "2222", &posted));
    assert_string_equal(kit.err.code, "seq_gap");
    assert_false(kit_post(&kit, task, 1, 2, "2222", &posted));
    assert_int_equal(kit.err.status, 422);
}

static void add_to(json_t *result, const char *name, int more) {
    json_object_set_new(result, name, json_integer(member_int(result, name) + more));
}

static void counts_that_contradict_the_outcomes_are_refused(void **state) {
    (void)state;
    static const char *const outcomes[] = {"222", "22222", "2225", "22x2", ""};
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        assert_false(kit_post(&kit, task, 1, 0, outcomes[i], &posted));
        assert_string_equal(kit.err.code, "bad_counts");
    }
    static const struct {
        int wins, losses, draws, crashes, time_losses;
    } changes[] = {{1, 0, 0, 0, 0},  {1, 0, -1, 0, 0},  {1, 1, -2, 0, 0},
                   {-1, 0, 1, 0, 0}, {-1, -1, 2, 0, 0}, {0, 0, 0, 9, 0},
                   {0, 0, 0, 5, 4},  {0, 0, 0, -1, 0},  {9, 9, -18, 0, 0}};
    int refused = 0, count = sizeof changes / sizeof *changes;
    for (int i = 0; i < count; i++) {
        json_auto_t *result = kit_result("0134");
        add_to(result, "wins", changes[i].wins);
        add_to(result, "losses", changes[i].losses);
        add_to(result, "draws", changes[i].draws);
        add_to(result, "crashes", changes[i].crashes);
        add_to(result, "time_losses", changes[i].time_losses);
        Batch batch = kit_batch(task, 1, 0, result);
        refused += !ledger_batch(&kit.turn, &batch, &posted, &kit.err);
    }
    assert_int_equal(refused, count);
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM batches"), 0);
}

static void a_drawn_pair_may_be_two_draws_or_a_win_each(void **state) {
    (void)state;
    json_auto_t *result = kit_result_with("2222", "{\"wins\": 1, \"losses\": 1, \"draws\": 6}");
    Batch batch = kit_batch(task, 1, 0, result);
    assert_true(ledger_batch(&kit.turn, &batch, &posted, &kit.err));
}

static void a_batch_of_another_machine_is_refused(void **state) {
    (void)state;
    assert_false(kit_post(&kit, task, 2, 0, "2222", &posted));
    assert_int_equal(kit.err.status, 403);
}

static void games_that_were_not_uploaded_are_missed(void **state) {
    (void)state;
    char sha[65];
    memset(sha, 'd', 64);
    sha[64] = 0;
    json_auto_t *result = kit_result("2222");
    Batch batch = kit_batch(task, 1, 0, result);
    batch.games_sha256 = sha;
    assert_false(ledger_batch(&kit.turn, &batch, &posted, &kit.err));
    assert_string_equal(kit.err.code, "games_missing");
    assert_true(ledger_games(&kit.turn, task, 1, 0, sha, 99, &kit.err));
    assert_true(ledger_batch(&kit.turn, &batch, &posted, &kit.err));
    assert_true(ledger_games(&kit.turn, task, 1, 0, sha, 99, &kit.err));
    sha[0] = 'e';
    assert_false(ledger_games(&kit.turn, task, 1, 0, sha, 99, &kit.err));
    assert_string_equal(kit.err.code, "batch_conflict");
}

static void games_stay_as_they_first_came(void **state) {
    (void)state;
    char sha[65], other[65];
    memset(sha, 'd', 64);
    memset(other, 'e', 64);
    sha[64] = other[64] = 0;
    int pairs;
    bool there;
    assert_true(kit_post(&kit, task, 1, 0, "2222", &posted)); // without games
    assert_false(ledger_games(&kit.turn, task, 1, 0, sha, 99, &kit.err));
    assert_true(ledger_games_expected(&kit.turn, task, 1, 1, sha, &pairs, &there, &kit.err));
    assert_false(there);
    assert_true(ledger_games(&kit.turn, task, 1, 1, sha, 99, &kit.err));
    assert_true(ledger_games_expected(&kit.turn, task, 1, 1, sha, &pairs, &there, &kit.err));
    assert_true(there);
    assert_false(ledger_games_expected(&kit.turn, task, 1, 1, other, &pairs, &there, &kit.err));
    assert_string_equal(kit.err.code, "batch_conflict");
    assert_false(ledger_games(&kit.turn, task, 1, 1, other, 99, &kit.err));
    assert_false(ledger_games(&kit.turn, task, 1, 2, sha, 99, &kit.err)); // past the end
    assert_int_equal(kit.err.status, 422);
}

static bool takes_games(int64_t seq, const char *code) {
    char sha[65] = "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd";
    int pairs;
    bool there,
        good = ledger_games_expected(&kit.turn, task, 1, seq, sha, &pairs, &there, &kit.err);
    return good == !*code && (good || strcmp(kit.err.code, code) == 0);
}

static void games_are_accepted_for_the_next_batch(void **state) {
    (void)state;
    assert_true(takes_games(0, ""));
    assert_true(takes_games(1, "seq_gap"));
    assert_true(kit_post(&kit, task, 1, 0, "2222", &posted));
    assert_true(takes_games(0, "batch_conflict"));
    assert_true(takes_games(1, ""));
    assert_true(ledger_release(&kit.turn, task, 1, 4, &kit.err));
    assert_true(takes_games(1, "")); // who played them gets the credit
}

// ---- late batches -------------------------------------------------------------------------------

static void expire(void) {
    kit.turn.now += 1000;
    ledger_expire(&kit.turn);
}

static void a_late_batch_is_stored_and_never_counts(void **state) {
    (void)state;
    expire();
    assert_true(kit_post(&kit, task, 1, 0, "4444", &posted));
    assert_false(posted.counted);
    assert_string_equal(posted.uncounted, "late");
    assert_string_equal(posted.task.why, "expired");
    int64_t other = kit_claim(&kit, 3, 4, 0);
    assert_int_equal(
        kit_int(&kit, "SELECT first_pair FROM tasks WHERE id = %lld", (long long)other), 0);
    assert_true(kit_post(&kit, other, 3, 0, "2222", &posted));
    assert_true(posted.counted);
    assert_int_equal(posted.units, 4);
    assert_int_equal(kit_int(&kit, "SELECT games FROM workers WHERE id = 1"), 8); // credited
    assert_int_equal(kit_check(&kit), 0);
}

// ---- verdicts -----------------------------------------------------------------------------------

static void set_quick_bounds(void) {
    kit_sql(&kit, "UPDATE tests SET parameters = json_set(parameters, "
                  "'$.model', 'logistic', '$.elo0', 0.0, '$.elo1', 100.0)");
}

static void crossing_the_upper_bound_accepts_and_stops_the_others(void **state) {
    (void)state;
    set_quick_bounds();
    int64_t other = kit_claim(&kit, 3, 4, 0);
    kit_let_go(&kit);
    int64_t seq = 0, mine = task;
    for (int i = 0; i < 50 && strcmp(posted.state, "finished") != 0; i++) {
        assert_true(kit_post(&kit, mine, 1, seq++, "3433", &posted));
        if (!posted.task.continues && strcmp(posted.task.why, "done") == 0)
            mine = kit_claim(&kit, 1, 4, 0), seq = 0;
    }
    assert_true(kit_result_is(&kit, "accepted"));
    assert_string_equal(posted.task.why, "finished");
    assert_true(kit_heartbeat(&kit, other, 3, "play", 5, 1, &reply));
    assert_string_equal(reply.why, "finished");
    int64_t units = posted.units;
    assert_true(kit_post(&kit, other, 3, 0, "0000", &posted));
    assert_false(posted.counted);
    assert_int_equal(posted.units, units);
    assert_int_equal(kit_int(&kit, "SELECT count(*) FROM events WHERE type = 'verdict'"), 1);
    assert_int_equal(kit_check(&kit), 0);
}

static void crossing_the_lower_bound_rejects(void **state) {
    (void)state;
    set_quick_bounds();
    for (int64_t seq = 0; strcmp(posted.state, "finished") != 0; seq++) {
        if (seq == 2)
            task = kit_claim(&kit, 1, 4, 0), seq = 0;
        assert_true(kit_post(&kit, task, 1, seq, "1011", &posted));
    }
    assert_true(kit_result_is(&kit, "rejected"));
    assert_int_equal(kit_check(&kit), 0);
}

static void an_sprt_that_reaches_its_cap_is_undecided(void **state) {
    (void)state;
    kit_sql(&kit, "UPDATE tests SET pairs_max = 8");
    assert_true(kit_post(&kit, task, 1, 0, "2222", &posted));
    assert_true(kit_post(&kit, task, 1, 1, "2222", &posted));
    assert_true(kit_result_is(&kit, "undecided"));
    char *event scope(free_ptr) =
        kit_text(&kit, "SELECT message FROM events WHERE type = 'verdict'");
    assert_non_null(strstr(event, "undecided: its games were too few for a verdict: LLR "));
    assert_int_equal(kit_check(&kit), 0);
    kit_sql(&kit, "UPDATE tests SET result = 'completed'");
    assert_int_equal(kit_check(&kit), 1);
}

// ---- the audit ----------------------------------------------------------------------------------

// The audit sums the batches itself, so that it sees a total that is not counted.
static void every_total_is_the_sum_over_the_batches(void **state) {
    (void)state;
    json_auto_t *one = kit_result_with("0011", "{\"crashes\": 4}"),
                *two = kit_result_with("1344", "{\"crashes\": 2, \"time_losses\": 2}");
    Batch first = kit_batch(task, 1, 0, one), second = kit_batch(task, 1, 1, two);
    assert_true(ledger_batch(&kit.turn, &first, &posted, &kit.err));
    assert_true(ledger_batch(&kit.turn, &second, &posted, &kit.err));
    assert_int_equal(kit_check(&kit), 0);
    char *totals scope(free_ptr) =
        kit_text(&kit, "SELECT (counts -> '$.ptnml') || format(' %%d %%d %%d %%d %%d', "
                       "counts ->> '$.wins', counts ->> '$.losses', counts ->> '$.draws', "
                       "counts ->> '$.crashes', counts ->> '$.time_losses') "
                       "FROM tests WHERE id = 1");
    assert_string_equal(totals, "[2,3,0,1,2] 5 7 4 6 2");
}

#define COUNTS_PLUS(name, more)                                                                    \
    "UPDATE tests SET counts = json_set(counts, '$." name "', (counts ->> '$." name "') + " more ")"

static void the_audit_sees_what_was_tampered_with(void **state) {
    (void)state;
    static const char *const damages[] = {
        "UPDATE tests SET units_counted = units_counted + 4",
        COUNTS_PLUS("ptnml[2]", "1"),
        COUNTS_PLUS("draws", "-1"),
        COUNTS_PLUS("crashes", "1"),
        COUNTS_PLUS("time_losses", "1"),
        COUNTS_PLUS("sprt.llr", "1e-15"),
        "UPDATE tests SET counts = '{}'",
        "UPDATE tests SET counts = json_remove(counts, '$.sprt')",
        "UPDATE tests SET points = json_set(points, '$.llr', (points ->> '$.llr') + 1e-15)",
        "UPDATE tests SET positions = positions + 1",
        "UPDATE batches SET result = json_set(result, '$.crashes', 1) WHERE seq = 0",
        "UPDATE batches SET position = NULL WHERE seq = 0",
        "UPDATE batches SET position = 7 WHERE seq = 1",
        "UPDATE batches SET units = 8 WHERE seq = 0",
        "UPDATE history SET state = json_set(state, '$.wins', 9) WHERE position = 1",
        "UPDATE history SET units = 1 WHERE position = 2",
        "DELETE FROM history WHERE position = 1",
        "INSERT INTO history VALUES (1, 3, 12, '{}')",
        "UPDATE batches SET result = json_set(result, '$.outcomes', '2233') WHERE seq = 0",
        "UPDATE tasks SET next_seq = next_seq + 1 WHERE id = 1",
        "UPDATE tests SET next_pair = next_pair + 4",
        "INSERT INTO returned_pairs VALUES (1, 0, 4, '')",
        "UPDATE tests SET units_recorded = 4",
        "UPDATE tests SET units_unproven = 4",
        "UPDATE tests SET units_author = 0",
        "UPDATE owner_totals SET units = units + 4",
        "UPDATE owner_totals SET state = json_set(state, '$.wins', 9)",
        "DELETE FROM owner_totals",
        "DELETE FROM returned_pairs",
    };
    assert_true(kit_post(&kit, task, 1, 0, "2134", &posted));
    assert_true(kit_post(&kit, task, 1, 1, "2234", &posted));
    int64_t other = kit_claim(&kit, 3, 4, 0);
    assert_true(ledger_release(&kit.turn, other, 3, 0, &kit.err));
    assert_int_equal(kit_check(&kit), 0);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        FILE *nowhere = fopen("/dev/null", "w");
        kit_sql(&kit, "CREATE TABLE keep_tests AS SELECT * FROM tests");
        kit_sql(&kit, "CREATE TABLE keep_tasks AS SELECT * FROM tasks");
        kit_sql(&kit, "CREATE TABLE keep_batches AS SELECT * FROM batches");
        kit_sql(&kit, "CREATE TABLE keep_returned AS SELECT * FROM returned_pairs");
        kit_sql(&kit, "CREATE TABLE keep_history AS SELECT * FROM history");
        kit_sql(&kit, "CREATE TABLE keep_totals AS SELECT * FROM owner_totals");
        kit_sql(&kit, "%s", damages[i]);
        if (ledger_check(kit.db, nowhere) == 0)
            fail_msg("unseen: %s", damages[i]);
        fclose(nowhere);
        kit_sql(&kit, "PRAGMA foreign_keys = 0");
        kit_sql(&kit, "INSERT OR REPLACE INTO tests SELECT * FROM keep_tests");
        kit_sql(&kit, "INSERT OR REPLACE INTO tasks SELECT * FROM keep_tasks");
        kit_sql(&kit, "UPDATE batches SET (units, result, position) = (SELECT units, "
                      "result, position FROM keep_batches k WHERE k.id = batches.id)");
        kit_sql(&kit, "DELETE FROM returned_pairs");
        kit_sql(&kit, "INSERT INTO returned_pairs SELECT * FROM keep_returned");
        kit_sql(&kit, "DELETE FROM owner_totals");
        kit_sql(&kit, "INSERT INTO owner_totals SELECT * FROM keep_totals");
        kit_sql(&kit, "DELETE FROM history");
        kit_sql(&kit, "INSERT INTO history SELECT * FROM keep_history");
        static const char *const tables[] = {"tests",    "tasks",  "batches",
                                             "returned", "totals", "history"};
        for (int t = 0; t < 6; t++)
            kit_sql(&kit, "DROP TABLE keep_%s", tables[t]);
        assert_int_equal(kit_check(&kit), 0);
    }
}

#define WITH_TASK(test) cmocka_unit_test_setup_teardown(test, open_task, close_kit)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TASK(a_batch_is_stored_counted_and_answered),
        WITH_TASK(a_repeat_changes_nothing),
        WITH_TASK(a_repeat_with_other_content_is_a_conflict),
        WITH_TASK(a_gap_and_a_batch_past_the_end_are_refused),
        WITH_TASK(counts_that_contradict_the_outcomes_are_refused),
        WITH_TASK(a_drawn_pair_may_be_two_draws_or_a_win_each),
        WITH_TASK(a_batch_of_another_machine_is_refused),
        WITH_TASK(games_that_were_not_uploaded_are_missed),
        WITH_TASK(games_stay_as_they_first_came),
        WITH_TASK(games_are_accepted_for_the_next_batch),
        WITH_TASK(a_late_batch_is_stored_and_never_counts),
        WITH_TASK(crossing_the_upper_bound_accepts_and_stops_the_others),
        WITH_TASK(crossing_the_lower_bound_rejects),
        WITH_TASK(an_sprt_that_reaches_its_cap_is_undecided),
        WITH_TASK(every_total_is_the_sum_over_the_batches),
        WITH_TASK(the_audit_sees_what_was_tampered_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
