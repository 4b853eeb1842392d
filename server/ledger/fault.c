// Fault reports of games that an engine lost by its own fault: which reports are accepted, which
// are kept, and which are only counted. See ledger.h.
#include <string.h>

#include "server/ledger/task.h"

static bool is_one_of(const char *word, const char *const words[]) {
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static bool fault_report_check(const FaultReport *fault_report, const TaskRow *row, Error *err) {
    static const char *const sides[] = {"new", "base", NULL};
    static const char *const ends[] = {"crash", "stall", "illegal", "time", NULL};
    if (!is_one_of(fault_report->side, sides))
        return error_field(err, 422, "bad_request", "side", "side is new or base");
    if (!is_one_of(fault_report->end, ends))
        return error_field(err, 422, "bad_request", "end", "end is crash, stall, illegal or time");
    if (fault_report->game < 0 || fault_report->game > 1)
        return error_field(err, 422, "bad_request", "game", "game is 0 or 1");
    if (fault_report->pair < row->first_pair ||
        fault_report->pair >= row->first_pair + row->pair_count)
        return error_field(err, 422, "bad_request", "pair", "the task has the pairs %lld to %lld",
                           (long long)row->first_pair,
                           (long long)(row->first_pair + row->pair_count - 1));
    return true;
}

// A fault report must belong to a game that counts: its batch has arrived and has that many games
// that ended so. Otherwise a machine could send invented reports without limit.
static bool is_founded(Turn *turn, const FaultReport *fault_report, const TaskRow *row,
                       Error *err) {
    int64_t size = row->test.rule.batch_pairs, seq = (fault_report->pair - row->first_pair) / size;
    int64_t first = row->first_pair + seq * size, counted = 0, known = 0;
    bool on_time = strcmp(fault_report->end, "time") == 0;
    Query q = query_named(turn->db, SQL_LEDGER_FAULT_REPORT_FOUNDED,
                          json_pack("{s:I, s:I, s:I, s:I, s:b}", "task", (json_int_t)row->id, "seq",
                                    (json_int_t)seq, "first", (json_int_t)first, "end",
                                    (json_int_t)(first + size), "on_time", on_time));
    bool there = query_step(&q);
    if (there) {
        counted = query_int(&q, COL_LEDGER_FAULT_REPORT_FOUNDED_COUNTED);
        known = query_int(&q, COL_LEDGER_FAULT_REPORT_FOUNDED_REPORTED);
        query_end(&q);
    }
    if (!there)
        return error_set(
            err, 409, "fault_unfounded",
            "send the batch before its fault reports: batch %lld of task %lld has not arrived",
            (long long)seq, (long long)row->id);
    return known < counted ||
           error_set(err, 409, "fault_unfounded",
                     "batch %lld has %lld %s, and %lld fault reports of them have arrived",
                     (long long)seq, (long long)counted, on_time ? "losses on time" : "crashes",
                     (long long)known);
}

// A test keeps a limited number of reports. More of them would tell nothing new. One owner may fill
// only a part, so that there is room for others.
static bool has_room(Turn *turn, int64_t test, int64_t worker, size_t size) {
    bool room = false;
    Query q = query(turn->db, SQL_LEDGER_FAULT_REPORT_KEPT, "ii", test, worker);
    if (query_step(&q)) {
        room = query_int(&q, COL_LEDGER_FAULT_REPORT_KEPT_COUNT) < FAULT_REPORT_OF_TEST &&
               query_int(&q, COL_LEDGER_FAULT_REPORT_KEPT_BYTES) + (int64_t)size <=
                   FAULT_REPORT_BYTES_OF_TEST &&
               query_int(&q, COL_LEDGER_FAULT_REPORT_KEPT_OWN_COUNT) < FAULT_REPORT_OF_OWNER &&
               query_int(&q, COL_LEDGER_FAULT_REPORT_KEPT_OWN_BYTES) + (int64_t)size <=
                   FAULT_REPORT_BYTES_OF_OWNER;
        query_end(&q);
    }
    return room;
}

static bool fault_report_add(Turn *turn, const FaultReport *fault_report, int64_t test,
                             Error *err) {
    const FaultReport *e = fault_report;
    bool kept = has_room(turn, test, e->worker, e->content_size);
    return db_write_blob(turn->db, err, SQL_LEDGER_FAULT_REPORT_ADD,
                         json_pack("{s:I, s:I, s:I, s:I, s:s, s:I, s:I, s:s, s:s, s:s, s:b, s:f}",
                                   "test", (json_int_t)test, "task", (json_int_t)e->task, "worker",
                                   (json_int_t)e->worker, "seq", (json_int_t)e->seq, "sha256",
                                   e->sha256, "pair", (json_int_t)e->pair, "game",
                                   (json_int_t)e->game, "side", e->side, "ending", e->end, "reason",
                                   e->reason, "overloaded", e->overloaded, "received", turn->now),
                         kept ? e->content : NULL, kept ? e->content_size : 0);
}

bool ledger_fault_report(Turn *turn, const FaultReport *fault_report, Error *err) {
    TaskRow row;
    if (!task_load(turn, fault_report->task, fault_report->worker, &row, err) ||
        !fault_report_check(fault_report, &row, err))
        return false;
    char *there scope(free_ptr) =
        db_text(turn->db, SQL_LEDGER_FAULT_REPORT_SHA, "ii", fault_report->task, fault_report->seq);
    if (!there)
        return is_founded(turn, fault_report, &row, err) &&
               fault_report_add(turn, fault_report, row.test.id, err);
    return strcmp(there, fault_report->sha256) == 0 ||
           error_set(err, 409, "fault_conflict",
                     "fault report %lld of task %lld is stored with other content",
                     (long long)fault_report->seq, (long long)fault_report->task);
}
