// Batches: the checks, the log, the totals, the verdict. See ledger.h.
#include <math.h>
#include <string.h>

#include "server/common/one_line.h"
#include "server/ledger/kinds.h"
#include "server/ledger/ranges.h"
#include "server/ledger/result.h"
#include "server/ledger/task.h"
#include "server/storage/blob.h"

// ---- checks -------------------------------------------------------------------------------------

static bool refuse(Error *err, const char *field, const char *what, int64_t is, int64_t should) {
    return error_field(err, 422, "bad_counts", field, "%s: %lld, should be %lld", what,
                       (long long)is, (long long)should);
}

static bool outcomes_count(const char *outcomes, int batch_pairs, int64_t ptnml[5], Error *err) {
    int64_t length = (int64_t)strlen(outcomes);
    memset(ptnml, 0, 5 * sizeof *ptnml);
    if (length != batch_pairs)
        return refuse(err, "outcomes", "pairs in the batch", length, batch_pairs);
    for (const char *p = outcomes; *p; p++) {
        if (*p < '0' || *p > '4')
            return error_field(err, 422, "bad_counts", "outcomes", "outcomes are digits 0 to 4");
        ptnml[*p - '0']++;
    }
    return true;
}

static bool numbers_check(const Batch *batch, int64_t games, Error *err) {
    if (batch->crashes < 0 || batch->crashes > games)
        return error_field(err, 422, "bad_counts", "crashes", "crashes are 0 to %lld",
                           (long long)games);
    if (batch->time_losses < 0 || batch->time_losses > games - batch->crashes)
        return error_field(err, 422, "bad_counts", "time_losses",
                           "crashes and time losses together are 0 to %lld", (long long)games);
    if (!(batch->speed >= 0 && batch->speed < 1e12))
        return error_field(err, 422, "bad_request", "speed", "speed is nodes a second");
    if (!(batch->busy >= 0 && batch->busy <= 1))
        return error_field(err, 422, "bad_request", "busy", "busy is 0 to 1");
    if (batch->load.delay > 1 || batch->load.steal > 1)
        return error_field(err, 422, "bad_request", "load", "delay and steal are 0 to 1");
    return one_line_check("tc", batch->tc, 0, 64, err);
}

bool batch_check(const Batch *batch, int batch_pairs, Error *err) {
    int64_t p[5], games = 2 * (int64_t)batch_pairs;
    if (!outcomes_count(batch->outcomes, batch_pairs, p, err))
        return false;
    if (batch->wins < 0 || batch->losses < 0 || batch->draws < 0 || batch->wins > games ||
        batch->losses > games || batch->draws > games)
        return error_field(err, 422, "bad_counts", "wins", "wins, losses and draws are 0 to %lld",
                           (long long)games);
    int64_t sum = batch->wins + batch->losses + batch->draws;
    if (sum != games)
        return refuse(err, "draws", "wins + losses + draws", sum, games);
    int64_t balance = 2 * p[4] + p[3] - p[1] - 2 * p[0];
    if (batch->wins - batch->losses != balance)
        return refuse(err, "wins", "wins - losses", batch->wins - batch->losses, balance);
    // A pair of 1 or 3 points has one drawn game, a pair of 2 points has none or two. The sum
    // checked above has the right parity already.
    if (batch->draws < p[3] + p[1] || batch->draws > p[3] + 2 * p[2] + p[1])
        return error_field(err, 422, "bad_counts", "draws", "%lld draws do not fit the outcomes",
                           (long long)batch->draws);
    return numbers_check(batch, games, err);
}

// ---- repeats ------------------------------------------------------------------------------------

static bool same_load(const Load *load, Query *q) {
    return numbers_equal(load->delay, query_real(q, COL_LEDGER_BATCH_STORED_LOAD_DELAY)) &&
           numbers_equal(load->steal, query_real(q, COL_LEDGER_BATCH_STORED_LOAD_STEAL)) &&
           numbers_equal(load->swap_mib, query_real(q, COL_LEDGER_BATCH_STORED_LOAD_SWAP_MIB)) &&
           numbers_equal(load->rest_new, query_real(q, COL_LEDGER_BATCH_STORED_LOAD_REST_NEW)) &&
           numbers_equal(load->rest_base, query_real(q, COL_LEDGER_BATCH_STORED_LOAD_REST_BASE)) &&
           numbers_equal(load->speed, query_real(q, COL_LEDGER_BATCH_STORED_LOAD_SPEED)) &&
           numbers_equal(load->speed_before,
                         query_real(q, COL_LEDGER_BATCH_STORED_LOAD_SPEED_BEFORE));
}

static bool same_batch(const Batch *batch, Query *q) {
    return strcmp(batch->outcomes, query_text(q, COL_LEDGER_BATCH_STORED_OUTCOMES)) == 0 &&
           batch->wins == query_int(q, COL_LEDGER_BATCH_STORED_WINS) &&
           batch->losses == query_int(q, COL_LEDGER_BATCH_STORED_LOSSES) &&
           batch->draws == query_int(q, COL_LEDGER_BATCH_STORED_DRAWS) &&
           batch->crashes == query_int(q, COL_LEDGER_BATCH_STORED_CRASHES) &&
           batch->time_losses == query_int(q, COL_LEDGER_BATCH_STORED_TIME_LOSSES) &&
           strcmp(batch->tc, query_text(q, COL_LEDGER_BATCH_STORED_TC)) == 0 &&
           numbers_equal(batch->speed, query_real(q, COL_LEDGER_BATCH_STORED_SPEED)) &&
           numbers_equal(batch->busy, query_real(q, COL_LEDGER_BATCH_STORED_BUSY)) &&
           strcmp(batch->games_sha256 ? batch->games_sha256 : "",
                  query_text(q, COL_LEDGER_BATCH_STORED_GAMES_SHA256)) == 0 &&
           same_load(&batch->load, q);
}

static void fill_reply(Turn *turn, const TaskRow *row, BatchReply *reply) {
    reply->task = task_reply(turn, row);
    reply->test = row->test.id;
    reply->next_seq = row->next_seq;
    reply->llr = row->test.tally.sprt.llr;
    reply->games = 2 * tally_pairs(&row->test.tally);
    snprintf(reply->state, sizeof reply->state, "%s", test_state_name(row->test.state));
}

static bool repeat(Turn *turn, const Batch *batch, const TaskRow *row, BatchReply *reply,
                   Error *err) {
    Query q = query(turn->db, SQL_LEDGER_BATCH_STORED, "ii", batch->task, batch->seq);
    bool is_same = false;
    reply->repeat = true;
    if (query_step(&q)) {
        is_same = same_batch(batch, &q);
        reply->counted = query_int(&q, COL_LEDGER_BATCH_STORED_COUNTS) != 0;
        query_end(&q);
    }
    if (!is_same)
        return error_field(err, 409, "batch_conflict", "seq",
                           "batch %lld of task %lld is stored with other content",
                           (long long)batch->seq, (long long)batch->task);
    fill_reply(turn, row, reply);
    return true;
}

// ---- storing ------------------------------------------------------------------------------------

// The status of a batch: whether it came in time, its flags, and whether its flags or its machine
// are excluded from the test.
typedef struct BatchStatus {
    bool in_time, excluded;
    FlagLimits limits;
    char flags[FLAGS_MAX];
} BatchStatus;

static bool place_check(Turn *turn, const Batch *batch, const TaskRow *row, Error *err) {
    if (batch->seq >= row->pair_count / row->test.rule.batch_pairs)
        return error_field(err, 422, "bad_request", "seq", "the task has %lld batches",
                           (long long)(row->pair_count / row->test.rule.batch_pairs));
    if (batch->seq > row->next_seq)
        return error_field(err, 409, "seq_gap", "seq", "batch %lld comes next",
                           (long long)row->next_seq);
    char *games scope(free_ptr) =
        db_text(turn->db, SQL_LEDGER_GAMES, "ii", batch->task, batch->seq);
    if (batch->games_sha256 && (!games || strcmp(games, batch->games_sha256) != 0))
        return error_field(err, 409, "games_missing", "games_sha256",
                           "PUT the games of batch %lld first", (long long)batch->seq);
    return true;
}

// A batch counts if its test is open and its machine is not blocked. If its task has ended, no
// other machine must have been given the range.
static bool does_count(Turn *turn, const TaskRow *row, int64_t first) {
    if (!test_state_is_open(row->test.state) || row->blocked)
        return false;
    if (task_is_open(row))
        return true;
    if (row->state != TASK_EXPIRED && row->state != TASK_RELEASED)
        return false;
    return !db_int_named(turn->db, SQL_LEDGER_DEALT_AGAIN, 1,
                         json_pack("{s:I, s:I, s:I, s:I}", "test", (json_int_t)row->test.id,
                                   "after", (json_int_t)row->id, "first", (json_int_t)first, "end",
                                   (json_int_t)(first + row->test.rule.batch_pairs)));
}

static bool count_batch(Turn *turn, const Batch *batch, TaskRow *row, Error *err) {
    tally_add(&row->test.tally, &row->test.rule,
              &(BatchCounts){batch->outcomes, batch->wins, batch->losses, batch->draws,
                             batch->crashes, batch->time_losses});
    return db_write(turn->db, err, SQL_LEDGER_TEST_COUNTED,
                    tally_row(&row->test.tally, row->test.id));
}

static void put_int(json_t *row, const char *column, int64_t value) {
    json_object_set_new(row, column, json_integer(value));
}

// A negative value means that the worker did not report it: NULL.
static void put_load(json_t *row, const char *column, double value) {
    json_object_set_new(row, column, value < 0 ? json_null() : json_real(value));
}

static json_t *row_of_batch(const Batch *batch, const TaskRow *row) {
    json_t *values =
        json_pack("{s:s, s:s, s:f, s:f, s:s?}", "outcomes", batch->outcomes, "tc", batch->tc,
                  "speed", batch->speed, "busy", batch->busy, "games_sha256", batch->games_sha256);
    put_int(values, "test", row->test.id);
    put_int(values, "task", batch->task);
    put_int(values, "worker", batch->worker);
    put_int(values, "seq", batch->seq);
    put_int(values, "wins", batch->wins);
    put_int(values, "losses", batch->losses);
    put_int(values, "draws", batch->draws);
    put_int(values, "crashes", batch->crashes);
    put_int(values, "time_losses", batch->time_losses);
    put_load(values, "load_delay", batch->load.delay);
    put_load(values, "load_steal", batch->load.steal);
    put_load(values, "load_swap_mib", batch->load.swap_mib);
    put_load(values, "load_rest_new", batch->load.rest_new);
    put_load(values, "load_rest_base", batch->load.rest_base);
    put_load(values, "load_speed", batch->load.speed);
    put_load(values, "load_speed_before", batch->load.speed_before);
    return values;
}

static bool log_batch(Turn *turn, const Batch *batch, const TaskRow *row, const BatchStatus *status,
                      Error *err) {
    const FlagLimits *limits = &status->limits;
    json_t *values = row_of_batch(batch, row);
    json_auto_t *judged =
        json_pack("{s:f, s:b, s:b, s:f, s:f, s:f, s:f, s:s}", "received", turn->now, "counted",
                  status->in_time, "excluded", status->excluded, "llr", row->test.tally.sprt.llr,
                  "limit_busy", limits->busy, "limit_slow", limits->slow, "limit_swap_mib",
                  limits->swap_mib, "flags", status->flags);
    json_object_update(values, judged);
    return db_write(turn->db, err, SQL_LEDGER_BATCH_ADD, values);
}

static bool note_progress(Turn *turn, const Batch *batch, TaskRow *row, Error *err) {
    int64_t credit = row->blocked ? 0 : 2 * row->test.rule.batch_pairs;
    row->next_seq++;
    task_note_started(row, 0);
    row->batch_until = turn->now + row->batch_s;
    row->lease_until = fmax(row->lease_until, turn->now + row->lease_s);
    if (!db_write(turn->db, err, SQL_LEDGER_TASK_STORED,
                  json_pack("{s:I, s:I, s:I, s:f, s:f}", "task", (json_int_t)row->id, "next_seq",
                            (json_int_t)row->next_seq, "started_pairs",
                            (json_int_t)row->started_pairs, "lease_until", row->lease_until,
                            "batch_until", row->batch_until)) ||
        !db_run(turn->db, err, SQL_LEDGER_WORKER_CREDIT, "iid", batch->worker, credit, turn->now))
        return false;
    if (task_is_open(row) && row->next_seq * row->test.rule.batch_pairs >= row->pair_count)
        return task_end(turn, row, TASK_DONE, err);
    return true;
}

// Games limited by nodes or depth have the same result on a busy machine.
static bool is_timed(const char *tc) {
    return strncmp(tc, "nodes=", 6) != 0 && strncmp(tc, "depth=", 6) != 0;
}

static BatchStatus status_of(Turn *turn, const Batch *batch, const TaskRow *row, int64_t first) {
    static const FlagLimits nothing = {-1, -1, -1};
    BatchStatus status = {.in_time = does_count(turn, row, first),
                          .limits = is_timed(batch->tc) ? flag_limits(turn) : nothing};
    flags_judge(batch->busy, &batch->load, &status.limits, status.flags);
    status.excluded = db_int(turn->db, SQL_LEDGER_IS_EXCLUDED, 0, "iis", row->test.id,
                             batch->worker, status.flags) != 0;
    return status;
}

static bool store(Turn *turn, const Batch *batch, TaskRow *row, BatchReply *reply, Error *err) {
    int64_t first = row->first_pair + batch->seq * row->test.rule.batch_pairs;
    BatchStatus status = status_of(turn, batch, row, first);
    reply->counted = status.in_time && !status.excluded;
    if (status.in_time && !task_is_open(row) &&
        !ranges_remove(turn, row->test.id, first, row->test.rule.batch_pairs, err))
        return false;
    if ((reply->counted && !count_batch(turn, batch, row, err)) ||
        !log_batch(turn, batch, row, &status, err) || !note_progress(turn, batch, row, err))
        return false;
    if (!reply->counted)
        return true;
    publish_counts(turn, row);
    return (batch->seq > 0 || bench_confirm(turn, row->test.id, batch->worker, err)) &&
           test_judge(turn, row, err);
}

bool ledger_batch(Turn *turn, const Batch *batch, BatchReply *reply, Error *err) {
    TaskRow row;
    *reply = (BatchReply){0};
    if (!task_load(turn, batch->task, batch->worker, &row, err))
        return false;
    if (batch->seq < row.next_seq)
        return repeat(turn, batch, &row, reply, err);
    if (!place_check(turn, batch, &row, err) ||
        !batch_check(batch, (int)row.test.rule.batch_pairs, err) ||
        !store(turn, batch, &row, reply, err))
        return false;
    fill_reply(turn, &row, reply);
    return true;
}

// Whether the next batch may still count.
static bool takes_games(Turn *turn, const TaskRow *row, int64_t seq) {
    if (task_is_open(row))
        return true;
    return row->state == TASK_EXPIRED &&
           does_count(turn, row, row->first_pair + seq * row->test.rule.batch_pairs);
}

// Games are accepted one batch at a time, each followed by its counts. Stored games are kept. So a
// machine cannot store more than it was dealt.
static bool games_check(Turn *turn, const TaskRow *row, int64_t seq, const char *sha, bool *there,
                        Error *err) {
    if (seq < 0 || seq >= row->pair_count / row->test.rule.batch_pairs)
        return error_field(err, 422, "bad_request", "seq", "the task has %lld batches",
                           (long long)(row->pair_count / row->test.rule.batch_pairs));
    char *known scope(free_ptr) = db_text(turn->db, SQL_LEDGER_GAMES, "ii", row->id, seq);
    *there = known != NULL;
    if (known ? strcmp(known, sha) != 0 : seq < row->next_seq)
        return error_field(err, 409, "batch_conflict", "seq", "batch %lld is stored with %s games",
                           (long long)seq, known ? "other" : "no");
    if (known)
        return true;
    if (seq > row->next_seq)
        return error_field(err, 409, "seq_gap", "seq", "the games of batch %lld come next",
                           (long long)row->next_seq);
    return takes_games(turn, row, seq) ||
           error_set(err, 409, "task_over", "task %lld is %s: the server takes no games for it",
                     (long long)row->id, task_state_name(row->state));
}

bool ledger_games_expected(Turn *turn, int64_t task, int64_t worker, int64_t seq, const char *sha,
                           int *batch_pairs, bool *there, Error *err) {
    TaskRow row;
    if (!task_load(turn, task, worker, &row, err))
        return false;
    *batch_pairs = (int)row.test.rule.batch_pairs;
    return games_check(turn, &row, seq, sha, there, err);
}

bool ledger_games(Turn *turn, int64_t task, int64_t worker, int64_t seq, const char *sha,
                  int64_t size, Error *err) {
    TaskRow row;
    bool there = false;
    if (!task_load(turn, task, worker, &row, err) ||
        !games_check(turn, &row, seq, sha, &there, err))
        return false;
    return there || (blob_note(turn->db, sha, (size_t)size, "games", turn->now, err) &&
                     db_write(turn->db, err, SQL_LEDGER_GAMES_PUT,
                              json_pack("{s:I, s:I, s:s, s:f}", "task", (json_int_t)task, "seq",
                                        (json_int_t)seq, "sha256", sha, "received", turn->now)));
}
