// See begun.h.
#include "server/ledger/begun.h"

#include "server/common/str.h"
#include "server/ledger/event.h"
#include "sql/ledger.h"

// Rules of the system, as those of a record (trust.c).
enum { DAY_S = 86400, WINDOW_DAYS = 30, BEGUN_LEAST = 40, PARTS = 20, TIMES_FLEET = 3 };
enum { AWAY_S = 900, DROPS_CLEAN_S = 30 * DAY_S };

static int64_t day_of(const Turn *turn) {
    return (int64_t)(turn->now / DAY_S);
}

int64_t begun_pairs(const BegunTask *task) {
    int64_t batch = task->batch_pairs;
    return (task->started_pairs + batch - 1) / batch * batch;
}

int64_t begun_pairs_and_next(const BegunTask *task) {
    int64_t begun = begun_pairs(task), reported = task->next_seq * task->batch_pairs;
    if (begun == reported)
        begun += task->batch_pairs;
    return begun < task->pair_count ? begun : task->pair_count;
}

static SqlBegunSums sums_of(Turn *turn, const BegunTask *task) {
    SqlBegunSums sums = {0};
    sql_begun_sums(turn->db, &sums, .owner = task->owner, .after = day_of(turn) - WINDOW_DAYS);
    return sums;
}

static bool judge(Turn *turn, const BegunTask *task, Error *err) {
    SqlBegunSums sums = sums_of(turn, task);
    if (sums.begun < BEGUN_LEAST || PARTS * sums.dropped <= sums.begun)
        return true;
    double median = sql_begun_median(turn->db, 0, .owner = task->owner, .least = BEGUN_LEAST,
                                     .after = day_of(turn) - WINDOW_DAYS);
    if ((double)sums.dropped <= TIMES_FLEET * median * (double)sums.begun)
        return true;
    if (!sql_begun_mark(turn->db, err, .owner = task->owner, .now = turn->now,
                        .clean_s = DROPS_CLEAN_S, .dropped = sums.dropped, .begun = sums.begun,
                        .median = median))
        return false;
    if (db_changes(turn->db) == 0)
        return true; // marked before
    ledger_event(turn, "dropped", 0, task->worker, task->test,
                 "the owner of this machine did not report %lld of %lld batches that it began in "
                 "%d days (%.1f %%; median of vouched owners: %.1f %%). It has no record for %d "
                 "days, and stays vouched for if it is",
                 (long long)sums.dropped, (long long)sums.begun, WINDOW_DAYS,
                 100.0 * (double)sums.dropped / (double)sums.begun, 100 * median,
                 DROPS_CLEAN_S / DAY_S);
    return trust_lose(turn, task->owner, err);
}

// The batches from `seq` to before `end`.
static bool drop(Turn *turn, const BegunTask *task, int64_t seq, int64_t end, Error *err) {
    bool any = seq < end;
    for (; seq < end; seq++)
        if (!sql_begun_drop(turn->db, err, .task = task->id,
                            .first_pair = task->first_pair + seq * task->batch_pairs,
                            .units = task->batch_pairs, .now = turn->now) ||
            !sql_begun_day(turn->db, err, .owner = task->owner, .day = day_of(turn),
                           .level = task->level, .reported = 0, .dropped = 1))
            return false;
    return !any || judge(turn, task, err);
}

bool begun_reported(Turn *turn, const BegunTask *task, int64_t seq, Error *err) {
    int64_t first = task->first_pair + seq * task->batch_pairs;
    if (sql_begun_is_dropped(turn->db, .task = task->id, .first_pair = first))
        return true;
    // What is reported makes the share smaller, but may make the batches enough.
    return sql_begun_day(turn->db, err, .owner = task->owner, .day = day_of(turn),
                         .level = task->level, .reported = 1, .dropped = 0) &&
           (sums_of(turn, task).begun != BEGUN_LEAST || judge(turn, task, err));
}

bool begun_ended(Turn *turn, const BegunTask *task, bool had_time, Error *err) {
    int64_t end = had_time ? begun_pairs_and_next(task) : begun_pairs(task);
    return drop(turn, task, task->next_seq, end / task->batch_pairs, err);
}

bool begun_claims(Turn *turn, int64_t worker, Error *err) {
    for (;;) {
        SqlBegunReturned row scope(sql_row_free) = {0};
        if (!sql_begun_returned(turn->db, &row, .worker = worker, .since = turn->now - AWAY_S))
            return true;
        BegunTask task = {.id = row.id,
                          .test = row.test_id,
                          .worker = worker,
                          .owner = row.owner,
                          .level = (OwnerLevel)row.level,
                          .first_pair = row.first_pair,
                          .batch_pairs = row.batch_pairs,
                          .next_seq = row.next_seq};
        if (!drop(turn, &task, task.next_seq, task.next_seq + 1, err))
            return false;
    }
}
