// See ending.h.
#include "server/ledger/ending.h"

#include <stdio.h>
#include <string.h>

#include "server/common/hash.h"
#include "server/ledger/task.h"
#include "sql/ledger.h"

enum { ONE_IN = 100 };

bool ending_is_wanted(int64_t seed, int64_t pair, int game) {
    char text[48];
    int size = snprintf(text, sizeof text, "%lld %d", (long long)pair, game);
    return table_hash((uint64_t)seed, text, (size_t)size) % ONE_IN == 0;
}

static bool place_check(const Ending *ending, const TaskRow *row, const SqlLedgerEndingPlace *place,
                        Error *err) {
    if (ending->game >= 2 * row->pair_count)
        return error_field(err, 422, "bad_request", "game", "the task has %lld games",
                           2 * (long long)row->pair_count);
    if (!ending_is_wanted(place->seed, row->first_pair + ending->game / 2, (int)ending->game % 2))
        return error_set(err, 409, "not_wanted", "game %lld of the task is not to be played on",
                         (long long)ending->game);
    if (place->stored)
        return strcmp(place->stored, ending->sha256) == 0 ||
               error_set(err, 409, "ending_conflict",
                         "the other end of game %lld is stored with other content",
                         (long long)ending->game);
    if (!place->has_seq)
        return error_set(err, 409, "ending_early", "send the batch of game %lld first",
                         (long long)ending->game);
    return place->games_sha256 ||
           error_set(err, 409, "no_games", "the games of batch %lld are not stored",
                     (long long)place->seq);
}

static bool load(Turn *turn, const Ending *ending, TaskRow *task, SqlLedgerEndingPlace *place,
                 Error *err) {
    return task_load(turn, ending->task, ending->worker, task, err) &&
           sql_ledger_ending_place(turn->db, place, .task = ending->task, .game = ending->game) &&
           place_check(ending, task, place, err);
}

bool ledger_ending_place(Turn *turn, const Ending *ending, EndingPlace *place, Error *err) {
    TaskRow task;
    SqlLedgerEndingPlace row scope(sql_row_free) = {0};
    if (!load(turn, ending, &task, &row, err))
        return false;
    *place = (EndingPlace){.there = row.stored,
                           .chess960 = row.chess960,
                           .first_pair = row.first_pair,
                           .pairs = row.batch_pairs,
                           .number = (int)(ending->game % (2 * row.batch_pairs))};
    snprintf(place->games, sizeof place->games, "%s", row.games_sha256 ? row.games_sha256 : "");
    return true;
}

bool ledger_ending(Turn *turn, const Ending *ending, const EndingFound *found, Error *err) {
    static const char *const judgements[] = {"right", "wrong", "unknown"};
    TaskRow task;
    SqlLedgerEndingPlace row scope(sql_row_free) = {0};
    if (!load(turn, ending, &task, &row, err))
        return false;
    const Ending *e = ending;
    return row.stored ||
           sql_ledger_ending_add(turn->db, err, .task = e->task, .game = e->game, .test = row.test,
                                 .engine = row.engine, .worker = e->worker, .owner = task.owner,
                                 .seq = row.seq, .sha256 = e->sha256,
                                 .ruled = found->ruled_draw ? "draw" : "win",
                                 .judgement = judgements[found->rule], .thought_ms = e->thought_ms,
                                 .rest_ms = e->rest_ms, .counts = row.counts,
                                 .moves = found->rule == ENDING_WRONG ? e->end.moves : NULL,
                                 .result = e->end.result, .now = turn->now);
}
