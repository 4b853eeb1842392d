// Ranges of pairs that came back: see ledger_task.h. All are multiples of the test's batch, because
// tasks are and only whole batches return.
#include "ledger_task.h"

static bool range_add(const Ledger *ledger, int64_t test, int64_t first, int64_t count,
                      Error *err) {
    return count == 0 ||
           db_run(ledger->db, err, SQL_LEDGER_RETURNED_ADD, "iii", test, first, count);
}

static bool range_drop(const Ledger *ledger, int64_t test, int64_t first, Error *err) {
    return db_run(ledger->db, err, SQL_LEDGER_RETURNED_REMOVE, "ii", test, first);
}

// The range that begins at or last before `pair`.
static bool range_before(const Ledger *ledger, int64_t test, int64_t pair, int64_t *first,
                         int64_t *count) {
    Query q = query(ledger->db, SQL_LEDGER_RETURNED_AT, "ii", test, pair);
    bool found = query_step(&q);
    if (found) {
        *first = query_int(&q, 0);
        *count = query_int(&q, 1);
        query_end(&q);
    }
    return found;
}

bool ranges_return(const Ledger *ledger, int64_t test, int64_t first, int64_t count, Error *err) {
    if (count <= 0)
        return true;
    int64_t before, before_count;
    int64_t after_count =
        db_int(ledger->db, SQL_LEDGER_RETURNED_COUNT, 0, "ii", test, first + count);
    if (after_count && !range_drop(ledger, test, first + count, err))
        return false;
    count += after_count;
    if (range_before(ledger, test, first, &before, &before_count) &&
        before + before_count == first) {
        if (!range_drop(ledger, test, before, err))
            return false;
        first = before;
        count += before_count;
    }
    return range_add(ledger, test, first, count, err);
}

int64_t ranges_take(const Ledger *ledger, int64_t test, int64_t wanted, int64_t *first,
                    Error *err) {
    Query q = query(ledger->db, SQL_LEDGER_RETURNED_FIRST, "i", test);
    if (!query_step(&q))
        return 0;
    *first = query_int(&q, 0);
    int64_t there = query_int(&q, 1), taken = wanted < there ? wanted : there;
    query_end(&q);
    if (!range_drop(ledger, test, *first, err) ||
        !range_add(ledger, test, *first + taken, there - taken, err))
        return -1;
    return taken;
}

bool ranges_remove(const Ledger *ledger, int64_t test, int64_t first, int64_t count, Error *err) {
    int64_t start, size;
    if (!range_before(ledger, test, first, &start, &size) || start + size < first + count)
        return true;
    return range_drop(ledger, test, start, err) &&
           range_add(ledger, test, start, first - start, err) &&
           range_add(ledger, test, first + count, start + size - first - count, err);
}
