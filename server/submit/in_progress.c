// See in_progress.h. The table belongs to the process, because requests run on all of its threads.
#include "server/submit/in_progress.h"

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int64_t users[IN_PROGRESS_MAX]; // 0: free

static int64_t *find(int64_t user) {
    for (int i = 0; i < IN_PROGRESS_MAX; i++)
        if (users[i] == user)
            return &users[i];
    return NULL;
}

bool in_progress_begin(int64_t user) {
    pthread_mutex_lock(&mutex);
    int64_t *place = find(user) ? NULL : find(0);
    if (place)
        *place = user;
    pthread_mutex_unlock(&mutex);
    return place;
}

void in_progress_end(int64_t user) {
    pthread_mutex_lock(&mutex);
    int64_t *place = find(user);
    if (place)
        *place = 0;
    pthread_mutex_unlock(&mutex);
}
