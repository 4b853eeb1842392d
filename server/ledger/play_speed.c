// Machines whose speed in play does not fit their clock. A machine measures its speed once a task,
// and its clocks are scaled by it. One that measures too little gives its games more nodes than
// those of other machines have, and the reverse. So the server compares what the games show: the
// nodes of the base side over its time, divided by the speed that was measured. All machines of a
// test play the same base, so their ratios agree, whatever the ratio is.
//
// The ratio of a machine is that of its newest tasks of the test, as many as it takes for 16 games.
// It is judged when a task ends. A single batch is not: a batch in which many games reach the
// endgame is faster, so its speed depends on its results. For that reason nothing that was played
// is taken out, either: the machine only gets no further task of the test, until a maintainer
// readmits it.
//
// Each owner has one voice, the median of its machines, so that no owner gains by many machines. A
// machine fits if it is near any of the middle voices. The other machines of its own owner are a
// voice among the others: beside two other owners they save nothing, and where there is only one
// other owner, two that contradict each other bar none. An owner costs nothing to make, a record
// does. So unproven owners are not heard where two proven ones are, and they bar no machine of a
// proven owner.
//
// The figures are the machine's word. One that invents its nodes as well as its speed is not found
// here. It gains as much by inventing results, which is what replays and residuals are for.
#include "server/ledger/play_speed.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/str.h"
#include "sql/ledger.h"

// A machine fits up to this factor.
static const double FITS_FACTOR = 1.5;
// A machine is judged, and heard, with so many games. So many owners must be heard. Of the machines
// of a test, those are heard that registered first: machines that are made to be heard come last.
enum { GAMES_LEAST = 16, VOICES_LEAST = 2, MACHINES_HEARD = 256 };

// ---- the ratio of a machine ---------------------------------------------------------------------

typedef struct Play {
    int64_t games;
    double ratio; // of nodes/s in play to nodes/s measured
} Play;

// False: no game tells a speed. A batch without a figure counts as speed 0, so that a machine gains
// nothing by leaving it out; the query leaves out batches that can have none.
static bool play_sum(Turn *turn, int64_t test, int64_t worker, Play *play) {
    double weighted = 0;
    *play = (Play){0};
    SqlLedgerPlaysRows rows scope(sql_rows_end) =
        sql_ledger_plays(turn->db, .test = test, .worker = worker);
    while (play->games < GAMES_LEAST && sql_ledger_plays_next(&rows)) {
        play->games += rows.row.games;
        weighted += rows.row.play / rows.row.speed;
    }
    play->ratio = play->games ? weighted / (double)play->games : 0;
    return play->games > 0;
}

// ---- the voices of owners -----------------------------------------------------------------------

// The machines of a test that are heard, those of each owner together, the slowest first.
typedef struct Heard {
    int count;
    struct Machine {
        int64_t worker;
        double ratio;
        int owner; // a number for each owner
        bool proven;
    } * machines;
} Heard;

static void heard_release(Heard *heard) {
    free(heard->machines);
}

static void heard_load(Turn *turn, int64_t test, Heard *out) {
    char owner[64] = "";
    int owners = 0;
    *out = (Heard){.machines = xcalloc(MACHINES_HEARD, sizeof *out->machines)};
    SqlLedgerPlaySpeedsRows rows scope(sql_rows_end) = sql_ledger_play_speeds(
        turn->db, .test = test, .games = GAMES_LEAST, .most = MACHINES_HEARD);
    while (sql_ledger_play_speeds_next(&rows)) {
        owners += strcmp(rows.row.owner, owner) != 0;
        snprintf(owner, sizeof owner, "%s", rows.row.owner);
        out->machines[out->count++] =
            (struct Machine){rows.row.worker_id, rows.row.ratio, .owner = owners,
                             .proven = rows.row.level > LEVEL_UNPROVEN};
    }
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The medians of the owners, with the machine `without` left out. `proven`: only of those that are.
// The number of them.
static int medians(const Heard *heard, int64_t without, bool proven, double *out) {
    int count = 0;
    double *of_owner scope(free_ptr) = xcalloc((size_t)heard->count + 1, sizeof *of_owner);
    for (int i = 0, size = 0; i < heard->count; i++) {
        const struct Machine *machine = &heard->machines[i];
        if (machine->worker != without && (machine->proven || !proven))
            of_owner[size++] = machine->ratio;
        bool is_last = i + 1 == heard->count || machine[1].owner != machine->owner;
        if (is_last && size)
            out[count++] = (of_owner[(size - 1) / 2] + of_owner[size / 2]) / 2;
        size = is_last ? 0 : size;
    }
    qsort(out, (size_t)count, sizeof *out, by_size);
    return count;
}

// The middle voices: the same one twice if their number is odd.
typedef struct Others {
    double low, high;
} Others;

static bool is_proven(const Heard *heard, int64_t worker) {
    for (int i = 0; i < heard->count; i++)
        if (heard->machines[i].worker == worker)
            return heard->machines[i].proven;
    return false;
}

// False: too few owners are heard to judge the machine.
static bool others_of(const Heard *heard, int64_t worker, Others *out) {
    double *voices scope(free_ptr) = xcalloc((size_t)heard->count + 1, sizeof *voices);
    int count = medians(heard, worker, true, voices);
    if (count < VOICES_LEAST)
        count = is_proven(heard, worker) ? 0 : medians(heard, worker, false, voices);
    if (count < VOICES_LEAST)
        return false;
    *out = (Others){voices[(count - 1) / 2], voices[count / 2]};
    return true;
}

// ---- judgement ----------------------------------------------------------------------------------

// An engine that prints no nodes has speed 0 on all machines. Then none is judged.
static bool fits(double ratio, const Others *others) {
    return others->high <= 0 ||
           (ratio * FITS_FACTOR >= others->low && ratio <= others->high * FITS_FACTOR);
}

// What people read of it, everywhere.
static char *misfit_text(const Play *play, const Others *others) {
    char low[16], high[16];
    snprintf(low, sizeof low, "%.2f", others->low);
    snprintf(high, sizeof high, "%.2f", others->high);
    bool one = strcmp(low, high) == 0;
    return xasprintf("in its latest %lld games the base searched %.2f times as many nodes a second "
                     "as the machine had measured; on other machines it was %s%s%s times",
                     (long long)play->games, play->ratio, low, one ? "" : " to ", one ? "" : high);
}

static bool misfit_add(Turn *turn, int64_t test, int64_t worker, const Play *play,
                       const Others *others, Error *err) {
    char *text scope(free_ptr) = misfit_text(play, others);
    if (!sql_ledger_misfit_add(turn->db, err, .test = test, .worker = worker, .games = play->games,
                               .ratio = play->ratio, .low = others->low, .high = others->high,
                               .reason = text, .now = turn->now))
        return false;
    ledger_event(turn, "misfit", 0, worker, test,
                 "the speed of this machine does not fit its clock: %s. It gets no further task of "
                 "this test",
                 text);
    return true;
}

static bool judge(Turn *turn, int64_t test, int64_t worker, const Heard *heard, Error *err) {
    Play play;
    Others others;
    if (sql_ledger_is_misfit(turn->db, .test = test, .worker = worker) ||
        !play_sum(turn, test, worker, &play) || play.games < GAMES_LEAST ||
        !others_of(heard, worker, &others) || fits(play.ratio, &others))
        return true;
    return misfit_add(turn, test, worker, &play, &others, err);
}

// Keeps the ratio of a machine, for the judgement of others.
static bool note(Turn *turn, int64_t test, int64_t worker, bool *changed, Error *err) {
    Play play;
    *changed = play_sum(turn, test, worker, &play);
    return !*changed || sql_ledger_play_speed_put(turn->db, err, .test = test, .worker = worker,
                                                  .games = play.games, .ratio = play.ratio);
}

bool play_speed_judge(Turn *turn, int64_t test, int64_t worker, Error *err) {
    Heard heard scope(heard_release) = {0};
    bool changed;
    if (!note(turn, test, worker, &changed, err))
        return false;
    if (!changed)
        return true;
    heard_load(turn, test, &heard);
    return judge(turn, test, worker, &heard, err);
}

bool play_speed_judge_stopped(Turn *turn, int64_t test, Error *err) {
    Heard heard scope(heard_release) = {0};
    for (int pass = 0; pass < 2; pass++) {
        bool ignored;
        SqlLedgerStoppedWorkersRows rows scope(sql_rows_end) =
            sql_ledger_stopped_workers(turn->db, .test = test, .now = turn->now);
        while (sql_ledger_stopped_workers_next(&rows))
            if (pass == 0 ? !note(turn, test, rows.row.worker_id, &ignored, err)
                          : !judge(turn, test, rows.row.worker_id, &heard, err))
                return false;
        if (pass == 0)
            heard_load(turn, test, &heard);
    }
    return true;
}

bool ledger_readmit(Turn *turn, int64_t test, int64_t worker, int64_t user, Error *err) {
    char *state scope(free_ptr) = sql_ledger_test_state(turn->db, test);
    if (!state)
        return error_set(err, 404, "no_such_test", "there is no test %lld", (long long)test);
    if (!sql_ledger_worker_there(turn->db, worker))
        return error_field(err, 404, "no_such_machine", "worker", "there is no machine %lld",
                           (long long)worker);
    if (!sql_ledger_misfit_readmit(turn->db, err, .test = test, .worker = worker, .user = user,
                                   .now = turn->now))
        return false;
    if (!db_changes(turn->db))
        return error_set(err, 409, "not_misfit",
                         "machine %lld is not barred from test %lld for its speed",
                         (long long)worker, (long long)test);
    if (!sql_ledger_play_speed_drop(turn->db, err, .test = test, .worker = worker))
        return false;
    ledger_event(turn, "readmitted", user, worker, test,
                 "this machine may play the test again; its speed is judged by its next tasks");
    turn_wake(turn);
    return true;
}
