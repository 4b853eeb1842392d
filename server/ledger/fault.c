// Fault reports of games that an engine lost by its own fault: which reports are accepted, which
// are kept, and which are only counted. See ledger.h.
#include <string.h>

#include "server/ledger/task.h"
#include "sql/ledger.h"

static bool is_one_of(const char *word, const char *const words[]) {
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static bool fault_report_check(const FaultReport *fault_report, const TaskRow *row, Error *err) {
    static const char *const ends[] = {"crash", "stall", "illegal", "time", "ponder", NULL};
    if (!task_plays(row, fault_report->side, err))
        return false;
    if (!is_one_of(fault_report->end, ends))
        return error_field(err, 422, "bad_request", "end",
                           "end is crash, stall, illegal, time or ponder");
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
    int64_t size = row->test.batch_pairs, seq = (fault_report->pair - row->first_pair) / size;
    int64_t first = row->first_pair + seq * size;
    SqlLedgerFaultReportFounded games;
    if (!sql_ledger_fault_report_founded(turn->db, &games, .task = row->id, .seq = seq,
                                         .first = first, .end = first + size,
                                         .ending = fault_report->end))
        return error_set(
            err, 409, "fault_unfounded",
            "send the batch before its fault reports: batch %lld of task %lld has not arrived",
            (long long)seq, (long long)row->id);
    return games.reported < games.counted ||
           error_set(err, 409, "fault_unfounded",
                     "batch %lld counts %lld games that ended so (%s), and %lld fault reports of "
                     "them have arrived",
                     (long long)seq, (long long)games.counted, fault_report->end,
                     (long long)games.reported);
}

// A test keeps a limited number of reports. More of them would tell nothing new. One owner may fill
// only a part, so that there is room for others.
static bool has_room(Turn *turn, const TaskRow *row, size_t size) {
    SqlLedgerFaultReportKept kept;
    return sql_ledger_fault_report_kept(turn->db, &kept, .test = row->test.id,
                                        .owner = row->owner) &&
           kept.count < FAULT_REPORT_OF_TEST &&
           kept.bytes + (int64_t)size <= FAULT_REPORT_BYTES_OF_TEST &&
           kept.own_count < FAULT_REPORT_OF_OWNER &&
           kept.own_bytes + (int64_t)size <= FAULT_REPORT_BYTES_OF_OWNER;
}

static bool fault_report_add(Turn *turn, const FaultReport *fault_report, const TaskRow *row,
                             Error *err) {
    const FaultReport *e = fault_report;
    SqlBytes content = {e->content, e->content_size};
    if (!has_room(turn, row, content.size))
        content = (SqlBytes){0};
    return sql_ledger_fault_report_add(
        turn->db, err, .test = row->test.id, .task = e->task, .worker = e->worker,
        .owner = row->owner, .seq = e->seq, .sha256 = e->sha256, .pair = e->pair, .game = e->game,
        .side = e->side, .ending = e->end, .reason = e->reason, .overloaded = e->overloaded,
        .content = content, .now = turn->now);
}

bool ledger_fault_report(Turn *turn, const FaultReport *fault_report, Error *err) {
    TaskRow row;
    if (!task_load(turn, fault_report->task, fault_report->worker, &row, err) ||
        !fault_report_check(fault_report, &row, err))
        return false;
    char *there scope(free_ptr) =
        sql_ledger_fault_report_sha(turn->db, .task = fault_report->task, .seq = fault_report->seq);
    if (!there)
        return is_founded(turn, fault_report, &row, err) &&
               fault_report_add(turn, fault_report, &row, err);
    return strcmp(there, fault_report->sha256) == 0 ||
           error_set(err, 409, "fault_conflict",
                     "fault report %lld of task %lld is stored with other content",
                     (long long)fault_report->seq, (long long)fault_report->task);
}
