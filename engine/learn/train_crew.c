// A pool of threads with two barriers: one where a job begins, one where it ends.
#include "learn/train_crew.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Member {
    Crew *crew;
    int index;
    pthread_t thread;
} Member;

struct Crew {
    int count;
    pthread_barrier_t begin, end;
    CrewJob *job; // NULL: the threads end
    void *context;
    Member members[CREW_MAX];
};

static void *member_work(void *argument) {
    const Member *member = argument;
    Crew *crew = member->crew;
    for (;;) {
        pthread_barrier_wait(&crew->begin);
        if (!crew->job)
            return NULL;
        crew->job(crew->context, member->index, crew->count);
        pthread_barrier_wait(&crew->end);
    }
}

Crew *crew_new(int count) {
    Crew *crew = calloc(1, sizeof *crew);
    bool fits = crew && count >= 1 && count <= CREW_MAX &&
                !pthread_barrier_init(&crew->begin, NULL, (unsigned)count) &&
                !pthread_barrier_init(&crew->end, NULL, (unsigned)count);
    for (int i = 1; fits && i < count; i++) {
        crew->members[i] = (Member){.crew = crew, .index = i};
        fits = !pthread_create(&crew->members[i].thread, NULL, member_work, &crew->members[i]);
    }
    if (!fits) {
        fprintf(stderr, "anvil: cannot start %d threads\n", count);
        exit(EXIT_FAILURE);
    }
    crew->count = count;
    return crew;
}

void crew_free(Crew *crew) {
    if (!crew)
        return;
    crew->job = NULL;
    pthread_barrier_wait(&crew->begin);
    for (int i = 1; i < crew->count; i++)
        pthread_join(crew->members[i].thread, NULL);
    pthread_barrier_destroy(&crew->begin);
    pthread_barrier_destroy(&crew->end);
    free(crew);
}

int crew_count(const Crew *crew) {
    return crew->count;
}

void crew_run(Crew *crew, CrewJob *job, void *context) {
    crew->job = job;
    crew->context = context;
    pthread_barrier_wait(&crew->begin);
    job(context, 0, crew->count);
    pthread_barrier_wait(&crew->end);
}
