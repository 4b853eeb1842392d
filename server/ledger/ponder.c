// Tests of which a side computes in its opponent's time. Such a side loses the game, so it gains
// nothing; the test ends because its other games are worth as little. Who reports it is weighed as
// the reports of failures are (quorum.h): a machine that invents it ends no test alone.
#include <string.h>

#include "server/ledger/quorum.h"
#include "server/ledger/task.h"
#include "sql/ledger.h"

// So many games of the test must show it, and so large a share of them. An owner reports it if two
// of its games and half that share show it. An owner contradicts it if none of its games shows it,
// and so many should.
enum { PONDER_GAMES = 20, PONDER_GAMES_OF_OWNER = 2, PONDER_GAMES_MISSED = 5 };
static const double ponder_share = 0.01;

typedef struct Ponders {
    int64_t shown, games; // games that show it, and all
    int count;
    Voice *voices;
    struct Owner {
        int64_t shown, games;
    } * of;
} Ponders;

static void ponders_release(Ponders *ponders) {
    free(ponders->voices);
    free(ponders->of);
}

static void ponders_load(Turn *turn, int64_t test, const char *side, Ponders *out) {
    *out = (Ponders){.voices = xcalloc(VOICES_MAX, sizeof *out->voices),
                     .of = xcalloc(VOICES_MAX, sizeof *out->of)};
    SqlLedgerPonderVoicesRows rows scope(sql_rows_end) = sql_ledger_ponder_voices(
        turn->db, .test = test, .side = side, .since = turn->now - ACTIVE_S, .most = VOICES_MAX);
    while (sql_ledger_ponder_voices_next(&rows)) {
        Voice *voice = &out->voices[out->count];
        *voice = (Voice){.level = (OwnerLevel)rows.row.level, .could_try = rows.row.could};
        snprintf(voice->owner, sizeof voice->owner, "%s", rows.row.owner);
        snprintf(voice->network, sizeof voice->network, "%s", rows.row.network);
        snprintf(voice->first, sizeof voice->first, "%s", rows.row.first);
        out->of[out->count++] = (struct Owner){rows.row.shown, rows.row.games};
        out->shown += rows.row.shown;
        out->games += rows.row.games;
    }
}

static void ponders_judge(Ponders *ponders) {
    double share = (double)ponders->shown / (double)ponders->games;
    for (int i = 0; i < ponders->count; i++) {
        const struct Owner *owner = &ponders->of[i];
        Voice *voice = &ponders->voices[i];
        voice->failing = owner->shown >= PONDER_GAMES_OF_OWNER &&
                         (double)owner->shown >= ponder_share / 2 * (double)owner->games;
        voice->played = owner->shown == 0 && share * (double)owner->games >= PONDER_GAMES_MISSED;
        voice->could_try &= !voice->failing && !voice->played;
    }
}

static bool side_weigh(Turn *turn, TaskRow *row, const char *side, Error *err) {
    Ponders ponders scope(ponders_release) = {0};
    ponders_load(turn, row->test.id, side, &ponders);
    if (ponders.shown < PONDER_GAMES ||
        (double)ponders.shown < ponder_share * (double)ponders.games)
        return true;
    ponders_judge(&ponders);
    FailureDecision decision = failure_weigh_voices(ponders.voices, ponders.count);
    if (decision == FAILURE_GOES_ON)
        return true;
    bool ends = decision == FAILURE_ENDS;
    char *reason scope(free_ptr) =
        xasprintf("%sside %s computes in its opponent's time: %lld of %lld games show it%s",
                  ends ? "" : "Paused: ", side, (long long)ponders.shown, (long long)ponders.games,
                  ends ? "" : ", and no owner that is vouched for is here to confirm that");
    row->test.state = ends ? TEST_FINISHED : TEST_PAUSED;
    if (!ends)
        return test_suspend(turn, row->test.id, reason, err);
    row->state = TASK_STOPPED;
    return ledger_test_finish(turn, row->test.id, 0, "failed", "failed", reason, err);
}

bool ponders_weigh(Turn *turn, TaskRow *row, const json_t *result, Error *err) {
    static const char *const members[2] = {"ponders", "ponders_against"};
    for (int i = 0; i < 2; i++)
        if (json_integer_value(json_object_get(result, members[i])) > 0 &&
            row->test.state == TEST_ACTIVE && !side_weigh(turn, row, row->sides[i], err))
            return false;
    return true;
}
