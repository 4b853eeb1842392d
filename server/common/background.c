// See background.h.
#include "server/common/background.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "server/common/str.h"

struct Background {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool stopping, wanted;
    void (*look)(void *arg);
    void *arg;
    int every_s;
};

bool background_is_stopping(Background *background) {
    pthread_mutex_lock(&background->mutex);
    bool stopping = background->stopping;
    pthread_mutex_unlock(&background->mutex);
    return stopping;
}

static void rest(Background *background) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += background->every_s;
    pthread_mutex_lock(&background->mutex);
    while (!background->stopping && !background->wanted)
        if (pthread_cond_timedwait(&background->wake, &background->mutex, &until))
            break;
    background->wanted = false;
    pthread_mutex_unlock(&background->mutex);
}

static void *background_main(void *arg) {
    Background *background = arg;
    while (!background_is_stopping(background)) {
        background->look(background->arg);
        rest(background);
    }
    return NULL;
}

static void background_free(Background *background) {
    pthread_cond_destroy(&background->wake);
    pthread_mutex_destroy(&background->mutex);
    free(background);
}

bool background_start(Background **out, void (*look)(void *arg), void *arg, int every_s,
                      Error *err) {
    Background *background = xcalloc(1, sizeof *background);
    background->look = look;
    background->arg = arg;
    background->every_s = every_s;
    pthread_mutex_init(&background->mutex, NULL);
    pthread_cond_init(&background->wake, NULL);
    *out = background;
    if (!pthread_create(&background->thread, NULL, background_main, background))
        return true;
    *out = NULL;
    background_free(background);
    return error_set(err, 0, "", "cannot start a thread");
}

void background_wake(Background *background) {
    pthread_mutex_lock(&background->mutex);
    background->wanted = true;
    pthread_cond_signal(&background->wake);
    pthread_mutex_unlock(&background->mutex);
}

void background_stop(Background *background) {
    if (!background)
        return;
    pthread_mutex_lock(&background->mutex);
    background->stopping = true;
    pthread_cond_broadcast(&background->wake);
    pthread_mutex_unlock(&background->mutex);
    pthread_join(background->thread, NULL);
    background_free(background);
}
