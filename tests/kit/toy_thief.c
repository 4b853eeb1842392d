// How the toy engine computes in its opponent's time (toy.h). A thread watches whether the engine
// is to move. While it is not, CPU time is used in one of several ways, which differ in what is
// left to see of it when the engine is to move again.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/kit/toy.h"

enum { SLICE_MS = 5 };

static atomic_bool resting;

void toy_rest(bool rests) {
    atomic_store(&resting, rests);
}

void toy_sleep_ms(int ms) {
    struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

static int64_t own_cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void toy_burn_ms(int ms) {
    int64_t end = own_cpu_ns() + ms * INT64_C(1000000);
    while (own_cpu_ns() < end)
        ;
}

static void burn_slice(void) {
    int64_t end = own_cpu_ns() + SLICE_MS * INT64_C(1000000);
    while (atomic_load(&resting) && own_cpu_ns() < end)
        ;
}

static void *burn_in_thread(void *ctx) {
    (void)ctx;
    burn_slice();
    return NULL;
}

static void by_short_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, burn_in_thread, NULL) == 0)
        pthread_join(thread, NULL);
}

// A child does not see that the engine is to move again: it uses its slice to the end.
static void by_process(void) {
    pid_t pid = fork();
    if (pid == 0) {
        burn_slice();
        _exit(0);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && kill(pid, 0) == 0)
        toy_sleep_ms(1);
}

// The grandchild has no parent that waits for it.
static void by_orphan(void) {
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() == 0)
            burn_slice();
        _exit(0);
    }
    if (pid > 0)
        waitpid(pid, NULL, 0);
    toy_sleep_ms(SLICE_MS);
}

// The kernel forgets a child's CPU time if its parent ignores its end.
static void by_ignored_process(void) {
    signal(SIGCHLD, SIG_IGN);
    by_process();
}

static const struct {
    const char *name;
    void (*slice)(void);
} ways[] = {{"thread", burn_slice},
            {"threads", by_short_thread},
            {"processes", by_process},
            {"orphans", by_orphan},
            {"ignored", by_ignored_process}};

static void *steal(void *ctx) {
    void (*slice)(void) = *(void (**)(void))ctx;
    for (;;)
        if (atomic_load(&resting))
            slice();
        else
            nanosleep(&(struct timespec){0, 200000}, NULL);
    return NULL;
}

void toy_steal(const char *way) {
    static void (*slice)(void);
    pthread_t thread;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(way, ways[i].name) == 0)
            slice = ways[i].slice;
    if (!slice || pthread_create(&thread, NULL, steal, &slice) != 0) {
        fprintf(stderr, "toy: cannot steal by \"%s\"\n", way);
        exit(2);
    }
}
