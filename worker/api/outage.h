// Who waits for the server, and why: said in one line however many of the worker's threads and
// calls wait, and once more when it is over.
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "server/common/error.h"
#include "worker/api/backoff.h"

typedef struct Outage {
    pthread_mutex_t lock;
    const char *server; // borrowed
    int waiting;        // how many wait
    char said[256];     // what was said last; "" before and after an outage
} Outage;

// One call that is repeated until it is answered. Zero-initialised: it does not wait.
typedef struct Waiter {
    Backoff backoff;
    bool waits;
    char why[256];
} Waiter;

void outage_init(Outage *outage, const char *server);
void outage_release(Outage *outage);
// It failed once more: how many seconds to wait.
double outage_wait(Outage *outage, Waiter *waiter, const Error *err, double retry_after_s);
// It was answered, or is given up. `answered`: by the server, which is said once no call waits any
// more. Fine for one that does not wait.
void outage_over(Outage *outage, Waiter *waiter, bool answered);
