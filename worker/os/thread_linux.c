// See thread.h.
#include "worker/os/thread.h"

#include <pthread.h>
#include <signal.h>

void os_thread_block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}
