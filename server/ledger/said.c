// What engines said about their moves, as the machines counted it: checked, and kept for each side
// of a batch. The counts change no verdict, so a machine gains nothing by inventing them. It could
// only hide an engine's mistakes behind moves that were not played, and a replay counts the moves.
#include <string.h>

#include "engine/rules/game.h"
#include "server/ledger/task.h"
#include "sql/ledger.h"

static const char *const sides[2] = {"new", "base"};

static bool refuse(Error *err, const char *what) {
    return error_field(err, 422, "bad_request", "said",
                       "said is null, or has new and base, each with moves, illegal_pv, "
                       "other_move, false_mate and no_score: %s",
                       what);
}

static bool number_read(const json_t *json, const char *name, int *out) {
    const json_t *value = json_object_get(json, name);
    json_int_t number = json_integer_value(value);
    *out = json_is_integer(value) && number >= 0 && number <= INT32_MAX ? (int)number : -1;
    return *out >= 0;
}

bool said_read(const json_t *json, Batch *batch, Error *err) {
    batch->has_said = json && !json_is_null(json);
    if (!batch->has_said)
        return true;
    if (!json_is_object(json) || json_object_size(json) != 2)
        return refuse(err, "it is not that");
    for (int i = 0; i < 2; i++) {
        const json_t *side = json_object_get(json, sides[i]);
        Said *said = &batch->said[i];
        if (!json_is_object(side) || json_object_size(side) != SAID_KINDS + 1)
            return refuse(err, "a side is not that");
        if (!number_read(side, "moves", &said->moves))
            return refuse(err, "moves is no count");
        for (int kind = 0; kind < SAID_KINDS; kind++)
            if (!number_read(side, said_names[kind], &said->wrong[kind]))
                return refuse(err, "a number is no count");
    }
    return true;
}

// The sides of a game move in turn, so their numbers of moves differ by one at most.
bool said_check(const Batch *batch, const TaskRow *row, Error *err) {
    int64_t games = 2 * row->test.batch_pairs, most = games * GAME_PLIES_MAX / 2;
    if (batch->has_said && !row->test.plays_pairs)
        return refuse(err, "this test plays no games");
    for (int i = 0; i < 2 && batch->has_said; i++) {
        const Said *said = &batch->said[i];
        if (said->moves > most)
            return error_field(err, 422, "bad_counts", "said",
                               "side %s cannot have made %d moves in %lld games", sides[i],
                               said->moves, (long long)games);
        if (said_wrong(said) > said->moves)
            return error_field(err, 422, "bad_counts", "said",
                               "side %s was wrong about more moves than it made", sides[i]);
    }
    int64_t apart = (int64_t)batch->said[0].moves - batch->said[1].moves;
    return !batch->has_said || (apart >= -games && apart <= games) ||
           error_field(err, 422, "bad_counts", "said",
                       "%d and %d moves: in %lld games the sides move in turn",
                       batch->said[0].moves, batch->said[1].moves, (long long)games);
}

bool said_store(Turn *turn, const Batch *batch, const TaskRow *row, Error *err) {
    for (int i = 0; i < 2 && batch->has_said; i++) {
        const Said *said = &batch->said[i];
        if (!sql_ledger_said_add(
                turn->db, err, .task = batch->task, .seq = batch->seq, .side = row->sides[i],
                .moves = said->moves, .illegal_pv = said->wrong[SAID_ILLEGAL_PV],
                .other_move = said->wrong[SAID_OTHER_MOVE],
                .false_mate = said->wrong[SAID_FALSE_MATE], .no_score = said->wrong[SAID_NO_SCORE]))
            return false;
    }
    return true;
}

bool said_same(Turn *turn, const Batch *batch, const TaskRow *row) {
    for (int i = 0; i < 2; i++) {
        const Said *said = &batch->said[i];
        SqlLedgerSaid stored = {0};
        bool has = sql_ledger_said(turn->db, &stored, .task = batch->task, .seq = batch->seq,
                                   .side = row->sides[i]);
        if (has != batch->has_said || (has && (stored.moves != said->moves ||
                                               stored.illegal_pv != said->wrong[SAID_ILLEGAL_PV] ||
                                               stored.other_move != said->wrong[SAID_OTHER_MOVE] ||
                                               stored.false_mate != said->wrong[SAID_FALSE_MATE] ||
                                               stored.no_score != said->wrong[SAID_NO_SCORE])))
            return false;
    }
    return true;
}
