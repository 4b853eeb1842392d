// See submit_turn.h. The table is the process's: requests come and go on all its threads.
#include "server/submit/in_progress.h"

#include <pthread.h>

enum { TURNS_MAX = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int64_t turns[TURNS_MAX]; // ids of users, 0: free

static int64_t *find(int64_t user) {
    for (int i = 0; i < TURNS_MAX; i++)
        if (turns[i] == user)
            return &turns[i];
    return NULL;
}

bool submit_turn_take(int64_t user) {
    pthread_mutex_lock(&mutex);
    int64_t *place = find(user) ? NULL : find(0);
    if (place)
        *place = user;
    pthread_mutex_unlock(&mutex);
    return place;
}

void submit_turn_give(int64_t user) {
    pthread_mutex_lock(&mutex);
    int64_t *place = find(user);
    if (place)
        *place = 0;
    pthread_mutex_unlock(&mutex);
}
