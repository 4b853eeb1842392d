// See actions.h.
#include "server/submit/actions.h"

#include "server/common/str.h"
#include "server/submit/rights.h"

static bool may(Action action, const Caller *caller, int64_t test, Error *err) {
    SqlTestForChange row scope(sql_row_free) = {0};
    return right_to(action, caller, test, &row, err);
}

bool submit_stop(const Caller *caller, int64_t test, const char *reason, Error *err) {
    return may(ACTION_STOP, caller, test, err) &&
           ledger_test_stop(caller->turn, test, caller->viewer->user_id, reason, err);
}

bool submit_pause(const Caller *caller, int64_t test, Error *err) {
    return may(ACTION_PAUSE, caller, test, err) &&
           ledger_test_pause(caller->turn, test, caller->viewer->user_id, err);
}

bool submit_correct_bench(const Caller *caller, int64_t test, const char *side, int64_t nodes,
                          Error *err) {
    return may(ACTION_BENCH, caller, test, err) &&
           ledger_bench_correct_side(caller->turn, test, side, nodes, caller->viewer->user_id, err);
}

bool submit_exclude(const Caller *caller, const Exclusion *exclusion, Recount *prepared,
                    Excluded *changed, Error *err) {
    Exclusion own = *exclusion;
    own.user = caller->viewer->user_id;
    return may(ACTION_EXCLUDE, caller, own.test, err) &&
           ledger_exclude(caller->turn, &own, prepared, changed, err);
}

bool submit_include(const Caller *caller, const Inclusion *inclusion, Recount *prepared,
                    Excluded *changed, Error *err) {
    Inclusion own = *inclusion;
    own.user = caller->viewer->user_id;
    return may(ACTION_INCLUDE, caller, own.test, err) &&
           ledger_include(caller->turn, &own, prepared, changed, err);
}

bool submit_readmit(const Caller *caller, int64_t test, int64_t worker, Error *err) {
    return may(ACTION_READMIT, caller, test, err) &&
           ledger_readmit(caller->turn, test, worker, caller->viewer->user_id, err);
}

bool submit_block(const Caller *caller, int64_t machine, bool block, const char *reason,
                  Error *err) {
    return right_to_block(caller, err) &&
           ledger_block(caller->turn, machine, block, caller->viewer->user_id, reason, err);
}

bool submit_retest(const Caller *caller, int64_t machine, const char *reason, Error *err) {
    return right_to_block(caller, err) &&
           ledger_retest(caller->turn, machine, caller->viewer->user_id, reason, err);
}

bool submit_vouch(const Caller *caller, int64_t machine, bool vouch, const char *reason,
                  Error *err) {
    return right_to_vouch(caller, err) &&
           ledger_vouch(caller->turn, machine, vouch, caller->viewer->user_id, reason, err);
}
