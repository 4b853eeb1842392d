// See stop.h. Signals are taken by sigtimedwait in a thread of their own, so that everything done
// on a signal is ordinary code.
#include "worker/console/stop.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "server/common/log.h"

enum { TERM_GRACE_S = 20 }; // below systemd's 90 s and a container's usual 30 s

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_int level;
    atomic_bool failed;
    void (*on_change)(StopLevel level);
    void (*every_second)(void);
} stop = {.lock = PTHREAD_MUTEX_INITIALIZER};

static sigset_t stop_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGQUIT);
    return set;
}

StopLevel stop_level(void) {
    return (StopLevel)atomic_load(&stop.level);
}

void stop_raise(StopLevel level) {
    pthread_mutex_lock(&stop.lock);
    bool rises = (int)level > atomic_load(&stop.level);
    if (rises)
        atomic_store(&stop.level, (int)level);
    pthread_cond_broadcast(&stop.changed);
    pthread_mutex_unlock(&stop.lock);
    if (rises && stop.on_change)
        stop.on_change(level);
}

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static StopLevel next_level(int number) {
    if (number == SIGINT || number == SIGQUIT)
        return stop_level() == STOP_NO ? STOP_FINISH : STOP_NOW;
    return STOP_FINISH;
}

static void *signal_thread(void *unused) {
    sigset_t set = stop_signals();
    const struct timespec second = {1, 0};
    double deadline = 0;
    for (;;) {
        int number = sigtimedwait(&set, NULL, &second);
        if (number > 0) {
            if (number == SIGTERM && deadline == 0)
                deadline = now_s() + TERM_GRACE_S;
            stop_raise(next_level(number));
        }
        if (deadline > 0 && now_s() >= deadline)
            stop_raise(STOP_NOW);
        if (stop.every_second)
            stop.every_second();
    }
    return unused;
}

void stop_start(void (*on_change)(StopLevel level), void (*every_second)(void)) {
    stop.on_change = on_change;
    stop.every_second = every_second;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&stop.changed, &attributes);
    pthread_condattr_destroy(&attributes);
    signal(SIGPIPE, SIG_IGN);
    sigset_t set = stop_signals();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t thread;
    if (pthread_create(&thread, NULL, signal_thread, NULL) != 0)
        fatal("cannot start a thread");
    pthread_detach(thread);
}

bool stop_sleep(double seconds) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    double end = (double)until.tv_sec + (double)until.tv_nsec / 1e9 + seconds;
    until.tv_sec = (time_t)end;
    until.tv_nsec = (long)((end - (double)until.tv_sec) * 1e9);
    pthread_mutex_lock(&stop.lock);
    while (atomic_load(&stop.level) == STOP_NO &&
           pthread_cond_timedwait(&stop.changed, &stop.lock, &until) == 0)
        ;
    pthread_mutex_unlock(&stop.lock);
    return stop_level() == STOP_NO;
}

void stop_fail(const char *why) {
    if (!atomic_exchange(&stop.failed, true))
        log_error("%s", why);
    stop_raise(STOP_FINISH);
}

bool stop_failed(void) {
    return atomic_load(&stop.failed);
}

int stop_exit_status(void) {
    return stop_failed() ? 1 : stop_level() == STOP_NOW ? 130 : 0;
}
