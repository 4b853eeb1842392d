// See ranges.h.
#include "server/ledger/ranges.h"

#include <string.h>

#include "server/common/str.h"
#include "sql/ledger.h"

static bool range_add(Turn *turn, int64_t test, int64_t first, int64_t count, const char *owner,
                      Error *err) {
    return count == 0 || sql_ledger_returned_add(turn->db, err, .test = test, .first_pair = first,
                                                 .pair_count = count, .owner = owner);
}

static bool range_drop(Turn *turn, int64_t test, int64_t first, Error *err) {
    return sql_ledger_returned_remove(turn->db, err, .test = test, .first_pair = first);
}

bool ranges_return(Turn *turn, int64_t test, int64_t first, int64_t count, const char *owner,
                   Error *err) {
    if (count <= 0)
        return true;
    SqlLedgerReturnedBefore before scope(sql_row_free) = {0};
    int64_t after_count = sql_ledger_returned_count(turn->db, 0, .test = test,
                                                    .first_pair = first + count, .owner = owner);
    if (after_count && !range_drop(turn, test, first + count, err))
        return false;
    count += after_count;
    if (sql_ledger_returned_before(turn->db, &before, .test = test, .pair = first) &&
        before.first_pair + before.pair_count == first && strcmp(before.owner, owner) == 0) {
        if (!range_drop(turn, test, before.first_pair, err))
            return false;
        first = before.first_pair;
        count += before.pair_count;
    }
    return range_add(turn, test, first, count, owner, err);
}

// Takes up to `wanted` pairs from the beginning of the range.
static int64_t take_part(Turn *turn, int64_t test, int64_t wanted,
                         const SqlLedgerReturnedFirst *range, Error *err) {
    int64_t taken = wanted < range->pair_count ? wanted : range->pair_count;
    return range_drop(turn, test, range->first_pair, err) &&
                   range_add(turn, test, range->first_pair + taken, range->pair_count - taken,
                             range->owner, err)
               ? taken
               : -1;
}

int64_t ranges_take(Turn *turn, int64_t test, int64_t wanted, const char *not_of, int64_t *first,
                    Error *err) {
    int64_t taken = 0;
    while (taken < wanted) {
        SqlLedgerReturnedFirst range scope(sql_row_free) = {0};
        if (!sql_ledger_returned_first(turn->db, &range, .test = test, .not_of = not_of,
                                       .from = taken ? *first + taken : 0) ||
            (taken && range.first_pair != *first + taken))
            break;
        int64_t part = take_part(turn, test, wanted - taken, &range, err);
        if (part < 0)
            return -1;
        if (!taken)
            *first = range.first_pair;
        taken += part;
    }
    return taken;
}
