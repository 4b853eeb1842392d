// See running.h.
#include "worker/setup/running.h"

void running_init(Running *running) {
    *running = (Running){0};
    pthread_mutex_init(&running->lock, NULL);
}

void running_reset(Running *running) {
    pthread_mutex_lock(&running->lock);
    running->finish = running->abort = false;
    atomic_store(&running->cancel, false);
    pthread_mutex_unlock(&running->lock);
}

static void give_orders(Running *running) {
    if (running->match && running->finish)
        match_finish(running->match);
    if (running->match && running->abort)
        match_abort(running->match);
}

void running_set_match(Running *running, Match *match) {
    pthread_mutex_lock(&running->lock);
    running->match = match;
    give_orders(running);
    pthread_mutex_unlock(&running->lock);
}

static void order(Running *running, bool abort) {
    pthread_mutex_lock(&running->lock);
    running->finish = true;
    running->abort |= abort;
    atomic_store(&running->cancel, true);
    give_orders(running);
    pthread_mutex_unlock(&running->lock);
}

void running_finish(Running *running) {
    order(running, false);
}

void running_abort(Running *running) {
    order(running, true);
}

void running_progress(Running *running, uint64_t *plies, int *next_pair) {
    *plies = 0;
    *next_pair = 0;
    pthread_mutex_lock(&running->lock);
    if (running->match) {
        *plies = match_plies(running->match);
        *next_pair = match_next_pair(running->match);
    }
    pthread_mutex_unlock(&running->lock);
}
