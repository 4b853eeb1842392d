// The options of the engine of a tree: the lists that machines read, weighed by owner as quorum.h
// says. The limits of an option may depend on the machine (the most threads, say), so honest lists
// may differ. Hence a list decides nothing by itself: it refuses options at submission, where the
// author reads why, and it speaks against a machine that reports a failure of kind `option`.
#include <string.h>

#include "server/common/uci_option.h"
#include "server/ledger/quorum.h"
#include "server/ledger/task.h"
#include "sql/ledger.h"

typedef struct Lists {
    BenchVote votes[BENCH_VOTES_MAX]; // `nodes` is the number of the list, from 1
    char *texts[BENCH_VOTES_MAX];
    int count;
} Lists;

static void lists_release(Lists *lists) {
    for (int i = 0; i < lists->count; i++)
        free(lists->texts[i]);
}

static void lists_load(Turn *turn, int64_t engine, const char *snapshot, Lists *lists) {
    SqlLedgerOptionListsRows rows scope(sql_rows_end) = sql_ledger_option_lists(
        turn->db, .engine = engine, .snapshot = snapshot, .most = BENCH_VOTES_MAX);
    while (lists->count < BENCH_VOTES_MAX && sql_ledger_option_lists_next(&rows)) {
        BenchVote *vote = &lists->votes[lists->count];
        int same = 0;
        while (same < lists->count && strcmp(lists->texts[same], rows.row.list) != 0)
            same++;
        *vote = (BenchVote){
            .nodes = same + 1, .worker = rows.row.worker_id, .level = (OwnerLevel)rows.row.level};
        snprintf(vote->owner, sizeof vote->owner, "%s", rows.row.owner);
        snprintf(vote->network, sizeof vote->network, "%s", rows.row.network);
        lists->texts[lists->count++] = xstrdup(rows.row.list);
    }
}

// The list that the tree has now; NULL: the owners do not agree.
static const char *decide(const Lists *lists, bool another_vouched) {
    BenchScene scene = {.another_vouched = another_vouched};
    if (!lists->count)
        return NULL;
    BenchDecision decision = bench_weigh(lists->votes, lists->count, &scene);
    return decision.verdict == BENCH_ESTABLISH ? lists->texts[decision.nodes - 1] : NULL;
}

static bool settle(Turn *turn, int64_t test, int64_t engine, const char *snapshot, Error *err) {
    Lists lists scope(lists_release) = {0};
    lists_load(turn, engine, snapshot, &lists);
    bool another = sql_ledger_options_scene(turn->db, .test = test, .engine = engine,
                                            .snapshot = snapshot, .since = turn->now - ACTIVE_S);
    return sql_ledger_options_establish(turn->db, err, .engine = engine, .snapshot = snapshot,
                                        .list = decide(&lists, another));
}

bool ledger_option_list(Turn *turn, int64_t task, int64_t worker, const char *side_name,
                        const char *list, Error *err) {
    TaskRow row;
    SqlLedgerSide side scope(sql_row_free) = {0};
    if (!task_load(turn, task, worker, &row, err) || !task_plays(&row, side_name, err) ||
        !uci_list_check(list, err))
        return false;
    if (!sql_ledger_side(turn->db, &side, .test = row.test.id, .side = side_name))
        return error_field(err, 422, "bad_request", "side", "test %lld has no side '%.32s'",
                           (long long)row.test.id, side_name);
    if (row.level == LEVEL_UNPROVEN &&
        !sql_ledger_option_list_has_room(turn->db, .worker = worker, .engine = side.engine_id,
                                         .snapshot = side.snapshot, .most = OPTION_LISTS_MAX))
        return true;
    return sql_ledger_option_list_add(turn->db, err, .engine = side.engine_id,
                                      .snapshot = side.snapshot, .worker = worker,
                                      .owner = row.owner, .network = row.network,
                                      .level = row.level, .list = list, .now = turn->now) &&
           settle(turn, row.test.id, side.engine_id, side.snapshot, err);
}

bool options_permit(Turn *turn, int64_t test, const char *side) {
    SqlLedgerSideOptions found scope(sql_row_free) = {0};
    Error ignored;
    return sql_ledger_side_options(turn->db, &found, .test = test, .side = side) && found.list &&
           uci_list_fits_text(found.list, found.options, &ignored) &&
           uci_list_fits_game(found.list, (int)found.threads,
                              strcmp(found.variant, "chess960") == 0, &ignored);
}
