// order_table [SEED [TESTS]]: whether batches that were played quickly should count sooner than
// others. Each simulated test is judged three times from the same games. First, its batches count
// in the order in which they arrive. Second, in the order in which they began: a batch counts when
// all that began before it have counted. Third, in the order in which they are due, as the server
// counts them (server/ledger/places.h): a batch is due when its machine should have played it,
// which is known when it begins, and it counts as soon as no batch under way is due before it. Both
// sides are equally strong, and the bounds are {0, 10}, so that each test that passes passes
// wrongly. The new side wins in games that are shorter, or longer, than all others.
//
// The machines play batches of one test. A machine reports the batches of its tasks one by one and
// claims its next task as soon as the last one ends, so it always has one batch under way, which
// began when the one before it arrived. Where the fleet is idle, all machines begin at once, as on
// a server that wakes all waiting claims when a test is approved. Where it is busy, each comes when
// its task of another test ends. A machine plays the games of a batch on all its cores.
//
// Printed are the tests that pass in each order, how many more pass in the order of arrival than in
// that of beginning with the standard error of this paired difference, and the mean time until the
// verdict in the second and the third order, each divided by that of arrival. Ends with 1 if the
// share that passes in one of these two is not alpha, within four standard errors.
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/str.h"
#include "sprt/pair_source.h"

enum { TESTS = 4000, MACHINES_MAX = 500, LENGTHS = 4096 };

// The share of pairs with equal points, and the share of these in which both sides won a game.
static const double DRAW_SHARE = 0.52, BOTH_WON = 0.5;
// Spreads are standard deviations of logarithms. That of lengths is the one of Anvil's games with
// the rules of adjudication of a new test.
static const double LENGTH_SPREAD = 0.35, SPEED_SPREAD = 0.2, EXPECTED_SPREAD = 0.1;
static const double GAME_SECONDS = 26; // mean length of a game at 10+0.1
static const double TASK_SECONDS = 1800;
static const double ALPHA = 0.05;

typedef struct Fleet {
    const char *name;
    int machines;
    int doublings; // a machine has 1 core, or 2, 4, …, with so many doublings, all equally often
    double spread; // of the speed of a core
    bool is_idle;
} Fleet;
static const Fleet FLEETS[] = {
    {"500 of 1 to 16 cores, idle", 500, 4, SPEED_SPREAD, true},
    {"500 of 1 to 16 cores, busy", 500, 4, SPEED_SPREAD, false},
    {"500 all alike, idle", 500, 0, 0, true},
    {"20 of 1 to 16 cores, idle", 20, 4, SPEED_SPREAD, true},
};

typedef struct Case {
    SprtModel model;
    int batch_pairs;
    double win_length; // of a game that the new side wins, relative to another one
} Case;
static const Case CASES[] = {
    {SPRT_LOGISTIC, 16, 0.7},   {SPRT_LOGISTIC, 16, 1.3},  {SPRT_NORMALIZED, 16, 0.7},
    {SPRT_NORMALIZED, 16, 1.3}, {SPRT_LOGISTIC, 4, 0.7},   {SPRT_LOGISTIC, 4, 1.3},
    {SPRT_NORMALIZED, 4, 0.7},  {SPRT_NORMALIZED, 4, 1.3},
};

// ---- random numbers -----------------------------------------------------------------------------

static PairSource source;

// Lengths of games in seconds. A game has one of these at random.
static double lengths[LENGTHS];

static void lengths_draw(void) {
    double sum = 0;
    for (int i = 0; i < LENGTHS; i++)
        sum += lengths[i] = exp(LENGTH_SPREAD * pair_source_normal(&source));
    for (int i = 0; i < LENGTHS; i++)
        lengths[i] *= LENGTHS / sum * GAME_SECONDS;
}

static double random_length(void) {
    return lengths[(int)(LENGTHS * pair_source_uniform(&source))];
}

// ---- a heap of times, the first on top ----------------------------------------------------------

typedef struct Event {
    double time;
    int64_t of; // a machine, or a batch by its place in the order of beginning
} Event;

typedef struct Heap {
    Event *events;
    int64_t count, capacity;
} Heap;

static void heap_push(Heap *heap, Event event) {
    if (heap->count == heap->capacity) {
        heap->capacity = heap->capacity ? 2 * heap->capacity : 1024;
        heap->events = xrealloc(heap->events, (size_t)heap->capacity * sizeof *heap->events);
    }
    int64_t i = heap->count++;
    for (; i > 0 && event.time < heap->events[(i - 1) / 2].time; i = (i - 1) / 2)
        heap->events[i] = heap->events[(i - 1) / 2];
    heap->events[i] = event;
}

static Event heap_pop(Heap *heap) {
    assert(heap->count > 0);
    Event *events = heap->events, top = events[0], last = events[--heap->count];
    int64_t i = 0;
    for (int64_t child; (child = 2 * i + 1) < heap->count; i = child) {
        if (child + 1 < heap->count && events[child + 1].time < events[child].time)
            child++;
        if (last.time <= events[child].time)
            break;
        events[i] = events[child];
    }
    events[i] = last;
    return top;
}

// ---- a fleet that plays -------------------------------------------------------------------------

typedef struct Batch {
    double counts[5];
    bool has_arrived;
} Batch;

typedef struct Machine {
    double speed;
    double expected; // its speed as the server knows it
    int64_t batch;   // that it plays; -1: it has not come yet
} Machine;

typedef struct Play {
    const Case *of;
    Machine machines[MACHINES_MAX];
    Heap next; // of machines: when the batch arrives, or when the machine comes
    Heap due;  // of batches that do not count yet in the third order
    Batch *batches;
    int64_t begun, capacity;
} Play;

static Batch *batch_new(Play *play) {
    if (play->begun == play->capacity) {
        play->capacity = play->capacity ? 2 * play->capacity : 4096;
        play->batches = xrealloc(play->batches, (size_t)play->capacity * sizeof *play->batches);
    }
    Batch *batch = &play->batches[play->begun++];
    *batch = (Batch){.has_arrived = false};
    return batch;
}

// Plays the games and returns the sum of their lengths.
static double play_games(const Case *of, Batch *batch) {
    double seconds = 0;
    pair_source_play(&source, of->batch_pairs, batch->counts);
    for (int outcome = 0; outcome < 5; outcome++)
        for (int pair = 0; pair < (int)batch->counts[outcome]; pair++) {
            bool both = outcome == 2 && pair_source_uniform(&source) < BOTH_WON;
            int wins = outcome > 2 ? outcome - 2 : both;
            for (int game = 0; game < 2; game++)
                seconds += random_length() * (game < wins ? of->win_length : 1);
        }
    return seconds;
}

static void batch_begin(Play *play, int64_t index, double now) {
    Machine *machine = &play->machines[index];
    double mean = 2 * play->of->batch_pairs * GAME_SECONDS;
    machine->batch = play->begun;
    double seconds = play_games(play->of, batch_new(play));
    heap_push(&play->next, (Event){now + seconds / machine->speed, index});
    heap_push(&play->due, (Event){now + mean / machine->expected, machine->batch});
}

static void play_begin(Play *play, const Fleet *fleet) {
    play->begun = play->next.count = play->due.count = 0;
    for (int i = 0; i < fleet->machines; i++) {
        int cores = 1 << (int)((fleet->doublings + 1) * pair_source_uniform(&source));
        double speed = cores * exp(fleet->spread * pair_source_normal(&source));
        double expected = speed * exp(EXPECTED_SPREAD * pair_source_normal(&source));
        play->machines[i] = (Machine){speed, expected, -1};
        heap_push(&play->next,
                  (Event){fleet->is_idle ? 0 : TASK_SECONDS * pair_source_uniform(&source), i});
    }
}

static void play_free(Play *play) {
    free(play->next.events);
    free(play->due.events);
    free(play->batches);
}

// The next batch that arrives, by its place in the order of beginning.
static int64_t next_arrival(Play *play, double *now) {
    for (;;) {
        Event event = heap_pop(&play->next);
        int64_t arrived = play->machines[event.of].batch;
        *now = event.time;
        batch_begin(play, event.of, event.time);
        if (arrived < 0)
            continue;
        play->batches[arrived].has_arrived = true;
        return arrived;
    }
}

// ---- a test, judged in each order ---------------------------------------------------------------

typedef enum { ARRIVAL, BEGINNING, DUE, ORDERS } Order;

typedef struct Judge {
    SprtState state;
    double counts[5];
    double ended; // when the verdict came
} Judge;

static bool is_open(const Judge *judge) {
    return judge->state.verdict == SPRT_OPEN;
}

static void judge_count(Judge *judge, const Play *play, int64_t batch, double now) {
    SprtBounds bounds = {play->of->model, 0, 10, ALPHA, ALPHA};
    for (int i = 0; i < 5; i++)
        judge->counts[i] += play->batches[batch].counts[i];
    sprt_update(&judge->state, &bounds, play->of->batch_pairs, judge->counts);
    judge->ended = now;
}

static void test_play(Play *play, const Fleet *fleet, Judge judges[ORDERS]) {
    memset(judges, 0, ORDERS * sizeof *judges);
    play_begin(play, fleet);
    for (int64_t place = 0;
         is_open(&judges[ARRIVAL]) || is_open(&judges[BEGINNING]) || is_open(&judges[DUE]);) {
        double now;
        int64_t arrived = next_arrival(play, &now);
        if (is_open(&judges[ARRIVAL]))
            judge_count(&judges[ARRIVAL], play, arrived, now);
        while (is_open(&judges[BEGINNING]) && play->batches[place].has_arrived)
            judge_count(&judges[BEGINNING], play, place++, now);
        while (is_open(&judges[DUE]) && play->batches[play->due.events->of].has_arrived)
            judge_count(&judges[DUE], play, heap_pop(&play->due).of, now);
    }
}

// ---- the table ----------------------------------------------------------------------------------

static bool print_row(const Fleet *fleet, const Case *of, int tests) {
    Play play = {.of = of};
    Judge judges[ORDERS];
    double passed[ORDERS] = {0}, seconds[ORDERS] = {0}, sum = 0, squares = 0;
    for (int i = 0; i < tests; i++) {
        test_play(&play, fleet, judges);
        for (int order = 0; order < ORDERS; order++) {
            passed[order] += judges[order].state.verdict == SPRT_ACCEPTED;
            seconds[order] += judges[order].ended;
        }
        int difference = (judges[ARRIVAL].state.verdict == SPRT_ACCEPTED) -
                         (judges[BEGINNING].state.verdict == SPRT_ACCEPTED);
        sum += difference;
        squares += difference * difference;
    }
    play_free(&play);
    double mean = sum / tests, error = sqrt((squares / tests - mean * mean) / tests);
    printf("%-26s %-10s %5d %+5.0f %% %7.2f %% %7.2f %% %7.2f %% %+7.2f +- %.2f %6.2f %6.2f\n",
           fleet->name, of->model == SPRT_LOGISTIC ? "logistic" : "normalized", of->batch_pairs,
           100 * (of->win_length - 1), 100 * passed[ARRIVAL] / tests,
           100 * passed[BEGINNING] / tests, 100 * passed[DUE] / tests, 100 * mean, 100 * error,
           seconds[BEGINNING] / seconds[ARRIVAL], seconds[DUE] / seconds[ARRIVAL]);
    fflush(stdout);
    double off = 4 * sqrt(ALPHA * (1 - ALPHA) / tests);
    return fabs(passed[BEGINNING] / tests - ALPHA) <= off &&
           fabs(passed[DUE] / tests - ALPHA) <= off;
}

int main(int argc, char **argv) {
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int tests = argc > 2 ? (int)strtol(argv[2], NULL, 10) : TESTS;
    printf("%d tests of equal engines by {0, 10}, seed %" PRIu64 "\n", tests, seed);
    printf("%-26s %-10s %5s %7s %9s %9s %9s %15s %6s %6s\n", "machines", "bounds", "pairs", "a win",
           "arrival", "begun", "due", "difference", "time", "time");
    bool fine = true;
    pair_source_seed(&source, seed);
    if (!pair_source_set(&source, DRAW_SHARE, 0))
        return 1;
    lengths_draw();
    for (size_t f = 0; f < sizeof FLEETS / sizeof *FLEETS; f++)
        for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++)
            fine &= print_row(&FLEETS[f], &CASES[c], tests);
    return !fine;
}
