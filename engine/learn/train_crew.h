// A pool of threads. All threads work on the same job, each on its own share.
#pragma once

enum { CREW_MAX = 256 };

typedef struct Crew Crew;
// `index` of `count` says which share: 0 is the caller's own thread.
typedef void CrewJob(void *context, int index, int count);

Crew *crew_new(int count); // ends the process where no thread is to be had
void crew_free(Crew *crew);
int crew_count(const Crew *crew);
// Returns when every share is done.
void crew_run(Crew *crew, CrewJob *job, void *context);

// The bounds of share `index` of `total` things.
static inline long crew_share(long total, int index, int count) {
    return total * index / count;
}
