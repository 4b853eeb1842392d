// Replays the games of a batch before it counts, and refuses a batch whose games cannot have been
// played. See ledger.h.
#include <string.h>

#include "server/common/hash.h"
#include "server/ledger/replay.h"
#include "server/ledger/rerun.h"
#include "server/ledger/task.h"
#include "server/ledger/trust.h"
#include "server/storage/blob.h"
#include "server/storage/book.h"
#include "sql/ledger.h"

static int64_t count_of(const json_t *result, const char *name) {
    return json_integer_value(json_object_get(result, name));
}

// What the batch says of its games. The workload has checked the result.
static ReplayFacts facts_of(Batch *batch, const SqlLedgerReplayConditions *from) {
    batch->prints = (GamePrints){.seed = (uint64_t)from->print_seed};
    return (ReplayFacts){
        .first_pair = from->first_pair,
        .outcomes = json_string_value(json_object_get(batch->result, "outcomes")),
        .wins = count_of(batch->result, "wins"),
        .losses = count_of(batch->result, "losses"),
        .draws = count_of(batch->result, "draws"),
        .crashes = count_of(batch->result, "crashes"),
        .time_losses = count_of(batch->result, "time_losses"),
        .ponders = {count_of(batch->result, "ponders"), count_of(batch->result, "ponders_against")},
        .margin_ms = {from->new_margin, from->base_margin},
        .thought = batch->thought,
        .said_moves = batch->has_said ? batch->said[0].moves + batch->said[1].moves : 0,
        .prints = &batch->prints,
        .chess960 = from->chess960};
}

static bool read_clocks(const Batch *batch, const SqlLedgerReplayConditions *from,
                        ReplayFacts *facts, Error *err) {
    ClockScale scale = {from->reference_speed, from->scale_min, from->scale_max};
    return clock_scale_apply(&scale, from->new_tc, batch->speed, &facts->clocks[0], err) &&
           (!from->base_tc ||
            clock_scale_apply(&scale, from->base_tc, batch->speed, &facts->clocks[1], err));
}

// The server's own files: if they cannot be read, the worker sends the batch again.
static bool read_games(const char *data, const Batch *batch, int64_t pairs, Str *text, Error *err) {
    size_t size;
    Error lost;
    char *packed scope(free_ptr) =
        blob_get(data, batch->games_sha256, games_packed_max(pairs), &size, &lost);
    return (packed && zstd_decompress(packed, size, text, &lost)) ||
           error_set(err, 503, "unavailable", "the games of batch %lld cannot be read",
                     (long long)batch->seq);
}

static json_t *read_openings(const char *data, const SqlLedgerReplayConditions *from, int64_t pairs,
                             Error *err) {
    Error lost;
    Str text scope(str_release);
    str_init(&text, (size_t)(pairs + 1) * OPENING_TEXT_MAX);
    json_t *openings =
        book_openings(data, from->book, from->seed, from->first_pair, pairs, &text, &lost)
            ? json_loadb(text.data, text.size, 0, NULL)
            : NULL;
    if (!openings)
        error_set(err, 503, "unavailable", "the openings of the test cannot be read");
    return openings;
}

static bool is_copy(Error *err, int game, int64_t task, int64_t seq, int64_t other) {
    return error_set(err, 422, "replay_mismatch",
                     "game %d: its moves and clocks are those of game %lld of batch %lld of task "
                     "%lld, so it was copied",
                     game + 1, (long long)other + 1, (long long)seq, (long long)task);
}

bool prints_check(Turn *turn, const Batch *batch, Error *err) {
    const GamePrints *prints = &batch->prints;
    for (int i = 0; i < prints->count; i++) {
        SqlLedgerPrint found;
        for (int j = 0; j < i; j++)
            if (prints->of[j].print == prints->of[i].print)
                return is_copy(err, prints->of[i].game, batch->task, batch->seq,
                               prints->of[j].game);
        if (sql_ledger_print(turn->db, &found, prints->of[i].print))
            return is_copy(err, prints->of[i].game, found.task_id, found.seq, found.game);
    }
    return true;
}

bool prints_store(Turn *turn, const Batch *batch, int64_t test, Error *err) {
    const GamePrints *prints = &batch->prints;
    for (int i = 0; i < prints->count; i++)
        if (!sql_ledger_print_add(turn->db, err, .test = test, .print = prints->of[i].print,
                                  .task = batch->task, .seq = batch->seq,
                                  .game = prints->of[i].game))
            return false;
    return true;
}

bool batch_replay(Turn *reader, const char *data, Batch *batch, int64_t pairs, Error *err) {
    SqlLedgerReplayConditions from scope(sql_row_free) = {0};
    Str text scope(str_release);
    str_init(&text, games_text_max(pairs));
    if (!sql_ledger_replay_conditions(reader->db, &from, .task = batch->task, .seq = batch->seq))
        return error_set(err, 404, "no_such_task", "there is no task %lld", (long long)batch->task);
    ReplayFacts facts = facts_of(batch, &from);
    json_auto_t *openings = read_openings(data, &from, pairs, err);
    facts.openings = openings;
    if (!openings || !read_games(data, batch, pairs, &text, err) ||
        !read_clocks(batch, &from, &facts, err))
        return false;
    if (!replay_rules(from.adjudication, &facts.rules))
        return error_set(err, 500, "internal", "the test's adjudication cannot be read");
    Error found;
    if (!replay_games(text.data, text.size, &facts, &found) || !prints_check(reader, batch, &found))
        return error_set(err, 422, "replay_mismatch", "batch %lld: %s", (long long)batch->seq,
                         found.message);
    rerun_compare(reader, data, batch, pairs, text.data, text.size);
    return true;
}

static bool end_failed(Turn *turn, const Batch *batch, TaskRow *row, const char *message,
                       Error *err) {
    Failure failure = {.task = batch->task,
                       .worker = batch->worker,
                       .kind = "games",
                       .side = "",
                       .message = message,
                       .log = ""};
    return failure_store(turn, row, &failure, err) &&
           (!task_is_open(row) || task_end(turn, row, TASK_FAILED, err)) &&
           trust_lose(turn, row->owner, err);
}

bool ledger_batch_refuse(Turn *turn, const Batch *batch, const char *fault, Error *err) {
    TaskRow row;
    if (!task_load(turn, batch->task, batch->worker, &row, err))
        return false;
    if (sql_ledger_has_failure(turn->db, batch->task))
        return true;
    if (!end_failed(turn, batch, &row, fault, err))
        return false;
    ledger_event(turn, "replay", 0, batch->worker, row.test.id,
                 "task %lld sent games that cannot have been played: %s", (long long)batch->task,
                 fault);
    return true;
}
