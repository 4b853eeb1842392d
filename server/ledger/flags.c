// Marks of batches whose machine was busy, slow or short of memory while it played them, and what
// machines are credited with. See ledger.h.
#include <math.h>
#include <string.h>

#include "server/ledger/task.h"

static const double MARK_BUSY = 0.1, MARK_SLOW = 0.25, MARK_SWAP_MIB = 64;

const Load LOAD_UNTOLD = {-1, -1, -1, -1, -1};

static void add_mark(char marks[MARKS_MAX], bool deserved, const char *mark) {
    size_t size = strlen(marks);
    if (deserved)
        snprintf(marks + size, MARKS_MAX - size, "%s%s", size ? " " : "", mark);
}

void marks_judge(double busy, const Load *load, const MarkLimits *limits, char marks[MARKS_MAX]) {
    double most = fmax(busy, fmax(load->delay, load->steal));
    bool measured = load->speed >= 0 && load->speed_before > 0;
    *marks = 0;
    add_mark(marks, limits->busy >= 0 && most > limits->busy, "busy");
    add_mark(marks,
             limits->slow >= 0 && measured && load->speed < (1 - limits->slow) * load->speed_before,
             "slow");
    add_mark(marks, limits->swap_mib >= 0 && load->swap_mib > limits->swap_mib, "swap");
}

static double limit(Query *q, int column, double high, double otherwise) {
    double value;
    return parse_double(query_text(q, column), 0, high, &value) ? value : otherwise;
}

MarkLimits mark_limits(const Ledger *ledger) {
    MarkLimits limits = {MARK_BUSY, MARK_SLOW, MARK_SWAP_MIB};
    Query q = query(ledger->db, SQL_LEDGER_MARK_LIMITS, "");
    if (query_step(&q)) {
        limits = (MarkLimits){limit(&q, 0, 1, MARK_BUSY), limit(&q, 1, 1, MARK_SLOW),
                              limit(&q, 2, 1e9, MARK_SWAP_MIB)};
        query_end(&q);
    }
    return limits;
}

Credit ledger_credit(Db *db, int64_t worker) {
    Credit credit = {0};
    Query q = query(db, SQL_LEDGER_CREDIT, "i", worker);
    if (query_step(&q)) {
        credit.games = query_int(&q, 1);
        snprintf(credit.user, sizeof credit.user, "%s", query_text(&q, 0));
        query_end(&q);
    }
    return credit;
}
