// See thinker.h.
#include "uci/thinker.h"

void thinker_start(Thinker *thinker, void *(*work)(void *context), void *context) {
    atomic_store(&thinker->state, THINKER_THINKING);
    thinker->has_thread = pthread_create(&thinker->thread, NULL, work, context) == 0;
    if (!thinker->has_thread)
        work(context);
}

void thinker_answers(Thinker *thinker) {
    atomic_store(&thinker->state, THINKER_ANSWERED);
}

void thinker_stop(Thinker *thinker) {
    ThinkerState expected = THINKER_THINKING;
    atomic_compare_exchange_strong(&thinker->state, &expected, THINKER_STOPPING);
}

bool thinker_is_free(Thinker *thinker) {
    if (atomic_load(&thinker->state) == THINKER_THINKING)
        return false;
    thinker_join(thinker);
    return true;
}

void thinker_join(Thinker *thinker) {
    if (thinker->has_thread)
        pthread_join(thinker->thread, NULL);
    thinker->has_thread = false;
    atomic_store(&thinker->state, THINKER_FREE);
}
