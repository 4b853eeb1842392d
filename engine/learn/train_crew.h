// A pool of threads. All threads work on the same job, each on its own share.
#pragma once

enum { CREW_MAX = 256 };

typedef struct Crew Crew;
// Work of one thread: share `index` of `count`. Share 0 runs in the caller's thread.
typedef void CrewJob(void *context, int index, int count);

Crew *crew_new(int count); // ends the process if a thread cannot be started
void crew_free(Crew *crew);
int crew_count(const Crew *crew);
// Runs the job on all threads and returns when all shares are done.
void crew_run(Crew *crew, CrewJob *job, void *context);

// The beginning of share `index` if `total` items are divided into `count` shares.
static inline long crew_share(long total, int index, int count) {
    return total * index / count;
}
