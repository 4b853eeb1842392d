// See in_progress.h. The table belongs to the process, because requests run on all of its threads.
#include "server/submit/in_progress.h"

#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#include "server/common/clock.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int64_t users[IN_PROGRESS_MAX]; // 0: free
static bool closed;

static int64_t *find(int64_t user) {
    for (int i = 0; i < IN_PROGRESS_MAX; i++)
        if (users[i] == user)
            return &users[i];
    return NULL;
}

InProgress in_progress_begin(int64_t user) {
    pthread_mutex_lock(&mutex);
    int64_t *place = closed || find(user) ? NULL : find(0);
    InProgress progress = place ? PROGRESS_BEGUN : closed ? PROGRESS_CLOSED : PROGRESS_HAS_ONE;
    if (place)
        *place = user;
    pthread_mutex_unlock(&mutex);
    return progress;
}

void in_progress_end(int64_t user) {
    pthread_mutex_lock(&mutex);
    int64_t *place = find(user);
    if (place)
        *place = 0;
    pthread_mutex_unlock(&mutex);
}

static bool all_ended(void) {
    pthread_mutex_lock(&mutex);
    int count = 0;
    for (int i = 0; i < IN_PROGRESS_MAX; i++)
        count += users[i] != 0;
    pthread_mutex_unlock(&mutex);
    return count == 0;
}

static void set_closed(bool to) {
    pthread_mutex_lock(&mutex);
    closed = to;
    pthread_mutex_unlock(&mutex);
}

bool in_progress_close(double wait_s) {
    enum { LOOK_EVERY_US = 20000 };
    double until = time_monotonic() + wait_s;
    set_closed(true);
    while (!all_ended()) {
        if (time_monotonic() > until)
            return set_closed(false), false;
        usleep(LOOK_EVERY_US);
    }
    return true;
}

void in_progress_open(void) {
    set_closed(false);
}
