// See book_use.h.
#include "server/ledger/book_use.h"

#include "sql/ledger.h"

int64_t book_limit(bool repeats, int64_t openings, int64_t batch_pairs) {
    return repeats ? openings / batch_pairs * batch_pairs : -1;
}

bool book_is_spent(Db *db, int64_t test) {
    SqlLedgerBookUse use;
    if (!sql_ledger_book_use(db, &use, test))
        return false;
    int64_t limit = book_limit(use.repeats, use.openings, use.batch_pairs);
    return limit >= 0 && use.next_pair >= limit && !use.has_open && !use.has_returned &&
           !use.has_waiting;
}
