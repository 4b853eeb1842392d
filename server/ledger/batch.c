// Batches: the checks, the log, the reply. See ledger.h.
#include <math.h>
#include <string.h>

#include "server/ledger/conduct.h"
#include "server/ledger/places.h"
#include "server/ledger/play_speed.h"
#include "server/ledger/rerun.h"
#include "server/ledger/task.h"
#include "server/storage/blob.h"
#include "sql/ledger.h"

// ---- checks -------------------------------------------------------------------------------------

// What `result` may say is the workload's.
static bool result_check(const Batch *batch, const TaskRow *row, const TestCount *count,
                         Error *err) {
    WorkloadDealt dealt = {.told = count->told,
                           .first_unit = row->first_pair + batch->seq * row->test.batch_pairs,
                           .units = row->test.batch_pairs};
    return count->count.workload->check(&dealt, batch->result, err);
}

// ---- repeats ------------------------------------------------------------------------------------

static bool same_load(const Load *load, const SqlLedgerBatchStored *stored) {
    return numbers_equal(load->delay, stored->load_delay) &&
           numbers_equal(load->steal, stored->load_steal) &&
           numbers_equal(load->swap_mib, stored->load_swap_mib) &&
           numbers_equal(load->rest_new, stored->load_rest_new) &&
           numbers_equal(load->rest_base, stored->load_rest_base) &&
           numbers_equal(load->speed, stored->load_speed) &&
           numbers_equal(load->speed_before, stored->load_speed_before);
}

static bool same_games(const char *sha256, const char *stored) {
    return sha256 && stored ? strcmp(sha256, stored) == 0 : !sha256 && !stored;
}

static bool same_batch(const Batch *batch, const SqlLedgerBatchStored *stored) {
    char *result scope(free_ptr) = count_text(batch->result);
    return strcmp(result, stored->result) == 0 && strcmp(batch->tc, stored->tc) == 0 &&
           numbers_equal(batch->speed, stored->speed) && numbers_equal(batch->busy, stored->busy) &&
           batch->thought == stored->thought &&
           same_games(batch->games_sha256, stored->games_sha256) && same_load(&batch->load, stored);
}

static void fill_reply(Turn *turn, const TaskRow *row, const TestCount *count,
                       const SqlLedgerBatchStored *stored, BatchReply *reply) {
    reply->counted = stored->counts;
    reply->uncounted = stored->counts                                         ? ""
                       : row->rerun_of                                        ? "rerun"
                       : stored->excluded                                     ? "excluded"
                       : stored->waits && test_state_is_open(row->test.state) ? "waits"
                                                                              : "late";
    reply->task = task_reply(turn, row);
    reply->test = row->test.id;
    reply->next_seq = row->next_seq;
    reply->units = count->count.units;
    count_summary(&count->count, reply->summary);
    snprintf(reply->state, sizeof reply->state, "%s", test_state_name(row->test.state));
}

static bool repeat(Turn *turn, const Batch *batch, const TaskRow *row, const TestCount *count,
                   BatchReply *reply, Error *err) {
    SqlLedgerBatchStored stored scope(sql_row_free) = {0};
    if (!sql_ledger_batch_stored(turn->db, &stored, .task = batch->task, .seq = batch->seq) ||
        !same_batch(batch, &stored) || !said_same(turn, batch, row))
        return error_field(err, 409, "batch_conflict", "seq",
                           "batch %lld of task %lld is stored with other content",
                           (long long)batch->seq, (long long)batch->task);
    reply->repeat = true;
    fill_reply(turn, row, count, &stored, reply);
    return true;
}

// ---- storing ------------------------------------------------------------------------------------

// The status of a batch: whether it came in time, and its flags.
typedef struct BatchStatus {
    bool in_time;
    FlagLimits limits;
    char flags[FLAGS_MAX];
} BatchStatus;

static bool place_check(Turn *turn, const Batch *batch, const TaskRow *row, Error *err) {
    if (batch->seq >= row->pair_count / row->test.batch_pairs)
        return error_field(err, 422, "bad_request", "seq", "the task has %lld batches",
                           (long long)(row->pair_count / row->test.batch_pairs));
    if (batch->seq > row->next_seq)
        return error_field(err, 409, "seq_gap", "seq", "batch %lld comes next",
                           (long long)row->next_seq);
    char *games scope(free_ptr) =
        sql_ledger_games(turn->db, .task = batch->task, .seq = batch->seq);
    if (batch->games_sha256 && (!games || strcmp(games, batch->games_sha256) != 0))
        return error_field(err, 409, "games_missing", "games_sha256",
                           "PUT the games of batch %lld first", (long long)batch->seq);
    return true;
}

// A machine whose games were impossible has nothing more to say about its task.
static bool refused_before(Turn *turn, const Batch *batch, Error *err) {
    char *before scope(free_ptr) = sql_ledger_refusal(turn->db, batch->task);
    return before && !error_set(err, 422, "replay_mismatch", "%s", before);
}

// Whether a batch that is new can be counted, but for its games.
static bool batch_check(Turn *turn, const Batch *batch, const TaskRow *row, const TestCount *count,
                        Error *err) {
    return !refused_before(turn, batch, err) && place_check(turn, batch, row, err) &&
           conditions_check(turn, batch, row, err) && said_check(batch, row, err) &&
           result_check(batch, row, count, err);
}

// A batch counts if its test and its task are open and its machine is not blocked: with its task, a
// batch loses its place. A rerun has none.
static bool does_count(const TaskRow *row) {
    return test_state_is_open(row->test.state) && task_is_open(row) && !row->blocked &&
           !row->rerun_of;
}

// A batch that counts waits first, if only until its request ends: see places.h.
static bool log_batch(Turn *turn, const Batch *batch, const TaskRow *row, const BatchStatus *status,
                      Error *err) {
    const Load *load = &batch->load;
    const FlagLimits *limits = &status->limits;
    char *result scope(free_ptr) = count_text(batch->result);
    return sql_ledger_batch_add(
        turn->db, err, .test = row->test.id, .task = batch->task, .worker = batch->worker,
        .seq = batch->seq, .units = row->test.batch_pairs, .result = result, .tc = batch->tc,
        .speed = batch->speed, .busy = batch->busy, .thought = batch->thought,
        .games_sha256 = batch->games_sha256, .now = turn->now, .due = row->due,
        .waits = status->in_time, .owner = row->owner, .level = row->level,
        .load_delay = load->delay, .load_steal = load->steal, .load_swap_mib = load->swap_mib,
        .load_rest_new = load->rest_new, .load_rest_base = load->rest_base,
        .load_speed = load->speed, .load_speed_before = load->speed_before,
        .limit_busy = limits->busy, .limit_slow = limits->slow, .limit_swap_mib = limits->swap_mib,
        .flags = status->flags, .key = batch->key,
        .signature = batch->key ? batch->signature : NULL);
}

static bool note_progress(Turn *turn, const Batch *batch, TaskRow *row, Error *err) {
    int64_t credit = row->blocked || !row->test.plays_pairs ? 0 : 2 * row->test.batch_pairs;
    row->next_seq++;
    task_note_started(row, 0);
    row->batch_until = turn->now + row->batch_s;
    row->due = fmax(row->due, turn->now + row->expected_s); // whatever the clock did
    row->lease_until = fmax(row->lease_until, turn->now + row->lease_s);
    if (!sql_ledger_task_stored(turn->db, err, .task = row->id, .next_seq = row->next_seq,
                                .started_pairs = row->started_pairs,
                                .lease_until = row->lease_until, .batch_until = row->batch_until,
                                .due = row->due) ||
        !sql_ledger_worker_credit(turn->db, err, .worker = batch->worker, .games = credit,
                                  .now = turn->now))
        return false;
    if (!task_is_open(row))
        return play_speed_judge(turn, row->test.id, row->worker, err);
    return row->next_seq * row->test.batch_pairs < row->pair_count ||
           task_end(turn, row, TASK_DONE, err);
}

// Games limited by nodes or depth have the same result on a busy machine.
static bool is_timed(const char *tc) {
    return strncmp(tc, "nodes=", 6) != 0 && strncmp(tc, "depth=", 6) != 0;
}

static BatchStatus status_of(Turn *turn, const Batch *batch, const TaskRow *row) {
    static const FlagLimits nothing = {NAN, NAN, NAN};
    BatchStatus status = {.in_time = does_count(row),
                          .limits = is_timed(batch->tc) ? flag_limits(turn) : nothing};
    flags_judge(batch->busy, &batch->load, &status.limits, status.flags);
    return status;
}

static bool store(Turn *turn, const Batch *batch, TaskRow *row, Error *err) {
    BatchStatus status = status_of(turn, batch, row);
    BegunTask begun = task_begun(row);
    if (!log_batch(turn, batch, row, &status, err) || !said_store(turn, batch, row, err) ||
        !begun_reported(turn, &begun, batch->seq, err) || !conduct_note(turn, batch, row, err) ||
        !note_progress(turn, batch, row, err))
        return false;
    return row->rerun_of ? rerun_note(turn, batch, row, err)
                         : places_settle(turn, row->test.id, err) &&
                               prints_store(turn, batch, row->test.id, err);
}

// What became of a batch that was new.
static bool reply_new(Turn *turn, const Batch *batch, BatchReply *reply, Error *err) {
    TaskRow row;
    scope(test_count_release) TestCount count = {0};
    SqlLedgerBatchStored stored scope(sql_row_free) = {0};
    if (!task_load(turn, batch->task, batch->worker, &row, err) ||
        !test_count_load(turn, row.test.id, 0, &count, err) ||
        !sql_ledger_batch_stored(turn->db, &stored, .task = batch->task, .seq = batch->seq))
        return false;
    fill_reply(turn, &row, &count, &stored, reply);
    return true;
}

static bool games_named(const Batch *batch, Error *err) {
    return batch->games_sha256 ||
           error_field(err, 422, "bad_request", "games_sha256",
                       "a batch of games counts only with its games: their hash as 64 hex digits");
}

bool ledger_batch_replay(Turn *reader, const char *data, Batch *batch, Error *err) {
    TaskRow row;
    scope(test_count_release) TestCount count = {0};
    if (!task_load(reader, batch->task, batch->worker, &row, err) ||
        !test_count_load(reader, row.test.id, row.id, &count, err))
        return false;
    if (batch->seq < row.next_seq || !row.test.plays_pairs)
        return true;
    batch->replayed = games_named(batch, err) && batch_check(reader, batch, &row, &count, err) &&
                      batch_replay(reader, data, batch, row.test.batch_pairs, err);
    return batch->replayed;
}

bool ledger_batch(Turn *turn, const Batch *batch, BatchReply *reply, Error *err) {
    TaskRow row;
    scope(test_count_release) TestCount count = {0};
    *reply = (BatchReply){0};
    if (!task_load(turn, batch->task, batch->worker, &row, err) ||
        !test_count_load(turn, row.test.id, row.id, &count, err))
        return false;
    if (batch->seq < row.next_seq)
        return repeat(turn, batch, &row, &count, reply, err);
    if (!batch_check(turn, batch, &row, &count, err))
        return false;
    if (row.test.plays_pairs && !batch->replayed)
        return error_set(err, 409, "games_missing", "the games of batch %lld were not replayed",
                         (long long)batch->seq);
    // Another batch may have come since the replay.
    return prints_check(turn, batch, err) && store(turn, batch, &row, err) &&
           reply_new(turn, batch, reply, err);
}

// Games are accepted one batch at a time, each followed by its counts. Stored games are kept. So a
// machine cannot store more than it was dealt.
static bool games_check(Turn *turn, const TaskRow *row, int64_t seq, const char *sha, bool *there,
                        Error *err) {
    if (seq < 0 || seq >= row->pair_count / row->test.batch_pairs)
        return error_field(err, 422, "bad_request", "seq", "the task has %lld batches",
                           (long long)(row->pair_count / row->test.batch_pairs));
    if (!row->test.plays_pairs)
        return error_set(err, 409, "no_games", "test %lld plays no games", (long long)row->test.id);
    char *known scope(free_ptr) = sql_ledger_games(turn->db, .task = row->id, .seq = seq);
    *there = known != NULL;
    if (known ? strcmp(known, sha) != 0 : seq < row->next_seq)
        return error_field(err, 409, "batch_conflict", "seq", "batch %lld is stored with %s games",
                           (long long)seq, known ? "other" : "no");
    if (known)
        return true;
    return seq <= row->next_seq ||
           error_field(err, 409, "seq_gap", "seq", "the games of batch %lld come next",
                       (long long)row->next_seq);
}

bool ledger_games_expected(Turn *turn, int64_t task, int64_t worker, int64_t seq, const char *sha,
                           int *batch_pairs, bool *there, Error *err) {
    TaskRow row;
    if (!task_load(turn, task, worker, &row, err))
        return false;
    *batch_pairs = (int)row.test.batch_pairs;
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
                     sql_ledger_games_put(turn->db, err, .task = task, .seq = seq, .sha256 = sha,
                                          .now = turn->now));
}
