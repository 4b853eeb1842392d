// See ranges.h.
#include "server/ledger/ranges.h"

#include <string.h>

static bool range_add(Turn *turn, int64_t test, int64_t first, int64_t count, const char *owner,
                      Error *err) {
    return count == 0 ||
           db_write(turn->db, err, SQL_LEDGER_RETURNED_ADD,
                    json_pack("{s:I, s:I, s:I, s:s}", "test", (json_int_t)test, "first_pair",
                              (json_int_t)first, "pair_count", (json_int_t)count, "owner", owner));
}

static bool range_drop(Turn *turn, int64_t test, int64_t first, Error *err) {
    return db_run(turn->db, err, SQL_LEDGER_RETURNED_REMOVE, "ii", test, first);
}

typedef struct Range {
    int64_t first, count;
    char owner[64];
} Range;

_Static_assert((int)COL_LEDGER_RETURNED_FIRST_PAIR_COUNT ==
                       (int)COL_LEDGER_RETURNED_AT_PAIR_COUNT &&
                   (int)COL_LEDGER_RETURNED_FIRST_OWNER == (int)COL_LEDGER_RETURNED_AT_OWNER,
               "both queries have the same columns");

static bool read_range(Query *q, Range *range) {
    bool found = query_step(q);
    if (found) {
        *range = (Range){query_int(q, COL_LEDGER_RETURNED_FIRST_FIRST_PAIR),
                         query_int(q, COL_LEDGER_RETURNED_FIRST_PAIR_COUNT), ""};
        snprintf(range->owner, sizeof range->owner, "%s",
                 query_text(q, COL_LEDGER_RETURNED_FIRST_OWNER));
        query_end(q);
    }
    return found;
}

// The range that begins at `pair`, or the last one before it.
static bool range_before(Turn *turn, int64_t test, int64_t pair, Range *range) {
    Query q = query(turn->db, SQL_LEDGER_RETURNED_AT, "ii", test, pair);
    return read_range(&q, range);
}

bool ranges_return(Turn *turn, int64_t test, int64_t first, int64_t count, const char *owner,
                   Error *err) {
    if (count <= 0)
        return true;
    Range before;
    int64_t after_count =
        db_int(turn->db, SQL_LEDGER_RETURNED_COUNT, 0, "iis", test, first + count, owner);
    if (after_count && !range_drop(turn, test, first + count, err))
        return false;
    count += after_count;
    if (range_before(turn, test, first, &before) && before.first + before.count == first &&
        strcmp(before.owner, owner) == 0) {
        if (!range_drop(turn, test, before.first, err))
            return false;
        first = before.first;
        count += before.count;
    }
    return range_add(turn, test, first, count, owner, err);
}

int64_t ranges_take(Turn *turn, int64_t test, int64_t wanted, const char *not_of, int64_t *first,
                    Error *err) {
    Range range;
    Query q = query(turn->db, SQL_LEDGER_RETURNED_FIRST, "is", test, not_of);
    if (!read_range(&q, &range))
        return 0;
    *first = range.first;
    int64_t taken = wanted < range.count ? wanted : range.count;
    if (!range_drop(turn, test, *first, err) ||
        !range_add(turn, test, *first + taken, range.count - taken, range.owner, err))
        return -1;
    return taken;
}

bool ranges_remove(Turn *turn, int64_t test, int64_t first, int64_t count, Error *err) {
    Range range;
    if (!range_before(turn, test, first, &range) || range.first + range.count < first + count)
        return true;
    return range_drop(turn, test, range.first, err) &&
           range_add(turn, test, range.first, first - range.first, range.owner, err) &&
           range_add(turn, test, first + count, range.first + range.count - first - count,
                     range.owner, err);
}
