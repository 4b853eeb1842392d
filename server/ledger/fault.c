// Evidence of games that an engine lost by its own fault: what may come, what is kept, and what is
// only counted. See ledger.h.
#include <string.h>

#include "server/ledger/task.h"

static bool is_one_of(const char *word, const char *const words[]) {
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static bool evidence_check(const Evidence *evidence, const TaskRow *row, Error *err) {
    static const char *const sides[] = {"new", "base", NULL};
    static const char *const ends[] = {"crash", "stall", "illegal", "time", NULL};
    if (!is_one_of(evidence->side, sides))
        return error_field(err, 422, "bad_request", "side", "side is new or base");
    if (!is_one_of(evidence->end, ends))
        return error_field(err, 422, "bad_request", "end", "end is crash, stall, illegal or time");
    if (evidence->game < 0 || evidence->game > 1)
        return error_field(err, 422, "bad_request", "game", "game is 0 or 1");
    if (evidence->pair < row->first_pair || evidence->pair >= row->first_pair + row->pair_count)
        return error_field(err, 422, "bad_request", "pair", "the task has the pairs %lld to %lld",
                           (long long)row->first_pair,
                           (long long)(row->first_pair + row->pair_count - 1));
    return true;
}

// Evidence is of a game that counts: its batch has arrived, and says so many games ended that way.
// Else a machine could invent as much as it likes.
static bool is_founded(const Ledger *ledger, const Evidence *evidence, const TaskRow *row,
                       Error *err) {
    int64_t size = row->test.batch_pairs, seq = (evidence->pair - row->first_pair) / size;
    int64_t first = row->first_pair + seq * size, counted = 0, known = 0;
    int64_t on_time = strcmp(evidence->end, "time") == 0;
    Query q = query(ledger->db, SQL_LEDGER_EVIDENCE_FOUNDED, "iiiii", row->id, seq, first,
                    first + size, on_time);
    bool there = query_step(&q);
    if (there) {
        counted = query_int(&q, 0);
        known = query_int(&q, 1);
        query_end(&q);
    }
    if (!there)
        return error_set(err, 409, "evidence_unfounded",
                         "evidence follows its batch, and batch %lld of task %lld has not come",
                         (long long)seq, (long long)row->id);
    return known < counted ||
           error_set(err, 409, "evidence_unfounded",
                     "batch %lld counts %lld %s, and there is evidence of %lld already",
                     (long long)seq, (long long)counted, on_time ? "losses on time" : "crashes",
                     (long long)known);
}

// Enough is enough: what a test has too many of tells nothing new, and what one owner sends leaves
// room for others.
static bool has_room(const Ledger *ledger, int64_t test, int64_t worker, size_t size) {
    bool room = false;
    Query q = query(ledger->db, SQL_LEDGER_EVIDENCE_KEPT, "ii", test, worker);
    if (query_step(&q)) {
        room = query_int(&q, 0) < EVIDENCE_OF_TEST &&
               query_int(&q, 1) + (int64_t)size <= EVIDENCE_BYTES_OF_TEST &&
               query_int(&q, 2) < EVIDENCE_OF_OWNER &&
               query_int(&q, 3) + (int64_t)size <= EVIDENCE_BYTES_OF_OWNER;
        query_end(&q);
    }
    return room;
}

static bool evidence_add(const Ledger *ledger, const Evidence *evidence, int64_t test, Error *err) {
    const Evidence *e = evidence;
    bool kept = has_room(ledger, test, e->worker, e->content_size);
    return db_run(ledger->db, err, SQL_LEDGER_EVIDENCE_ADD, "iiiisiisssibd", test, e->task,
                  e->worker, e->seq, e->sha256, e->pair, e->game, e->side, e->end, e->reason,
                  (int64_t)e->overloaded, kept ? e->content : NULL, kept ? e->content_size : 0,
                  ledger->now);
}

bool ledger_evidence(const Ledger *ledger, const Evidence *evidence, Error *err) {
    TaskRow row;
    if (!task_load(ledger, evidence->task, evidence->worker, &row, err) ||
        !evidence_check(evidence, &row, err))
        return false;
    char *there scope(free_ptr) =
        db_text(ledger->db, SQL_LEDGER_EVIDENCE_SHA, "ii", evidence->task, evidence->seq);
    if (!there)
        return is_founded(ledger, evidence, &row, err) &&
               evidence_add(ledger, evidence, row.test.id, err);
    return strcmp(there, evidence->sha256) == 0 ||
           error_set(err, 409, "evidence_conflict",
                     "evidence %lld of task %lld is stored with other content",
                     (long long)evidence->seq, (long long)evidence->task);
}
