// See scheduler.h. The order of tests and the size of tasks are as in Fishtest.
#include "server/ledger/scheduler.h"

#include <math.h>
#include <stddef.h>

#include "server/common/game_memory.h"

static int slots_of(const SchedTest *test, const SchedWorker *worker) {
    return game_slots(test->game_mib, test->threads, worker->cores, worker->memory_mib);
}

int scheduler_counted_cores(const SchedWorker *worker) {
    int most = trust_cores_max(worker->trust);
    return worker->cores < most ? worker->cores : most;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

// Half of what is not played, but a batch at least.
static int64_t room_of_owner(const SchedTest *test) {
    int64_t half = (test->pairs_left + test->pairs_open) / 2;
    return (half < test->batch_pairs ? test->batch_pairs : half) - test->pairs_of_owner;
}

// Half of what others have counted.
static int64_t room_of_author(const SchedTest *test) {
    int64_t others = -test->pairs_author;
    for (int i = 0; i <= LEVEL_VOUCHED; i++)
        others += test->counted.of[i];
    return others / 2 - test->pairs_author - test->pairs_of_owner - test->pairs_waiting;
}

int64_t scheduler_room(const SchedTest *test, const SchedWorker *worker) {
    int64_t room = shares_room(&test->counted, &test->held, test->level);
    if (worker->others_cores >= test->threads)
        room = smaller(room, room_of_owner(test));
    if (test->is_author && worker->vouched_cores >= test->threads)
        room = smaller(room, room_of_author(test));
    return room < test->pairs_left ? room / test->batch_pairs * test->batch_pairs
                                   : test->pairs_left;
}

bool scheduler_can_play(const SchedTest *test, const SchedWorker *worker) {
    return !test->barred && worker->tasks < trust_tasks_max(worker->trust) &&
           slots_of(test, worker) >= 1;
}

bool scheduler_fits(const SchedTest *test, const SchedWorker *worker) {
    return scheduler_can_play(test, worker) && scheduler_room(test, worker) > 0;
}

double scheduler_weight(const SchedTest *test) {
    double others = test->author_active_tests;
    double weight = 100 * 36 / (36 + others * others);
    if (test->tc_ratio > 1)
        weight *= pow(test->tc_ratio, 0.774);
    return weight * (1 + fmin((double)test->games / 200000, 1) + 0.2 * test->promise);
}

// Cores for each unit of weight. The test with the least gets the machine. The worker's last test
// counts the cores of this worker as if they were still there, so that a large machine changes
// tests.
static double load_per_weight(const SchedTest *test, const SchedWorker *worker, int *cores) {
    *cores = test->cores + (test->was_last ? worker->cores : 0);
    return (*cores + test->threads / 2.0) / scheduler_weight(test);
}

// Whether `a` comes before `b`: priority, then tests without a machine, then load per weight, then
// age.
static bool before(const SchedTest *a, const SchedTest *b, const SchedWorker *worker) {
    int cores_a, cores_b;
    double load_a = load_per_weight(a, worker, &cores_a),
           load_b = load_per_weight(b, worker, &cores_b);
    if (a->priority != b->priority)
        return a->priority > b->priority;
    if ((cores_a > 0) != (cores_b > 0))
        return cores_a == 0;
    if (load_a < load_b || load_a > load_b)
        return load_a < load_b;
    return a->id < b->id;
}

double scheduler_batch_seconds(const SchedTest *test, const SchedWorker *worker) {
    int slots = slots_of(test, worker);
    return ceil(2.0 * test->batch_pairs / (slots < 1 ? 1 : slots)) * test->game_seconds;
}

int64_t scheduler_task_pairs(const SchedTest *test, const SchedWorker *worker,
                             double task_seconds) {
    bool is_first = worker->trust == TRUST_NONE;
    int64_t batch = test->batch_pairs, room = scheduler_room(test, worker) / batch;
    double seconds = is_first ? fmin(task_seconds, FIRST_SECONDS_MAX) : task_seconds;
    double pairs = seconds / test->game_seconds * slots_of(test, worker) / 2;
    double batches =
        floor(fmin(pairs, is_first ? FIRST_PAIRS_MAX : DEALT_PAIRS_MAX) / (double)batch);
    int64_t share = (test->pairs_left + 2 * batch - 1) / (2 * batch); // half, rounded up
    int64_t wanted = batches < 1 ? 1 : (int64_t)batches;
    wanted = wanted < share ? wanted : share;
    return (wanted < room || room < 1 ? wanted : room) * batch;
}

SchedChoice scheduler_choose(const SchedTest *tests, int count, const SchedWorker *worker,
                             double task_seconds) {
    const SchedTest *best = NULL;
    for (int i = 0; i < count; i++)
        if (scheduler_fits(&tests[i], worker) && (!best || before(&tests[i], best, worker)))
            best = &tests[i];
    if (!best)
        return (SchedChoice){0};
    return (SchedChoice){best->id, scheduler_task_pairs(best, worker, task_seconds)};
}
