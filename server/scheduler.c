// See scheduler.h. Sources: Fishtest's order of tests and its task size, as facts; memory by our
// own engine's needs.
#include "scheduler.h"

#include <math.h>
#include <stddef.h>

// As a worker counts: two engines a slot, with their hash, each its code, nets and tables, and
// something more for each further thread.
int64_t scheduler_memory_mib(const SchedTest *test, int slots) {
    const int engine_mib = 64, thread_mib = 8, worker_mib = 64;
    int64_t slot = test->hash_mib + 2 * (engine_mib + (int64_t)thread_mib * (test->threads - 1));
    return worker_mib + slots * slot;
}

// Games at a time: what the cores carry, or fewer where memory is short.
static int slots_of(const SchedTest *test, const SchedWorker *worker) {
    int slots = worker->cores / test->threads;
    int64_t room = worker->memory_mib - scheduler_memory_mib(test, 0);
    int64_t slot = scheduler_memory_mib(test, 1) - scheduler_memory_mib(test, 0);
    return room / slot < slots ? (int)(room < 0 ? 0 : room / slot) : slots;
}

bool scheduler_fits(const SchedTest *test, const SchedWorker *worker) {
    return !test->barred && test->pairs_left > 0 && slots_of(test, worker) >= 1;
}

double scheduler_weight(const SchedTest *test) {
    double others = test->author_active_tests;
    double weight = 100 * 36 / (36 + others * others);
    if (test->tc_ratio > 1)
        weight *= pow(test->tc_ratio, 0.774);
    double promise = test->llr > 2 ? 0.1 + 0.1 * (test->elo0 > 0) : 0;
    return weight * (1 + fmin((double)test->games / 200000, 1) + promise);
}

// Cores for the weight, less is hungrier. A worker's last test counts its cores as if they were
// still there, so that big machines go round.
static double hunger(const SchedTest *test, const SchedWorker *worker, int *cores) {
    *cores = test->cores + (test->was_last ? worker->cores : 0);
    return (*cores + test->threads / 2.0) / scheduler_weight(test);
}

// Whether `a` goes before `b`: priority, then tests that nobody plays, then hunger, then age.
static bool before(const SchedTest *a, const SchedTest *b, const SchedWorker *worker) {
    int cores_a, cores_b;
    double hunger_a = hunger(a, worker, &cores_a), hunger_b = hunger(b, worker, &cores_b);
    if (a->priority != b->priority)
        return a->priority > b->priority;
    if ((cores_a > 0) != (cores_b > 0))
        return cores_a == 0;
    if (hunger_a < hunger_b || hunger_a > hunger_b)
        return hunger_a < hunger_b;
    return a->id < b->id;
}

int64_t scheduler_task_pairs(const SchedTest *test, const SchedWorker *worker,
                             double task_seconds) {
    int64_t batch = test->batch_pairs;
    double games = task_seconds / test->game_seconds * slots_of(test, worker);
    double batches = floor(fmin(games / 2, TASK_PAIRS_MAX) / (double)batch);
    int64_t share = (test->pairs_left + 2 * batch - 1) / (2 * batch); // half, rounded up
    int64_t wanted = batches < 1 ? 1 : (int64_t)batches;
    return (wanted < share ? wanted : share) * batch;
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
