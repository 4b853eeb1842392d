// Logs an outage of the server once, although several threads and calls may wait for it, and logs
// its end once.
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

// One call that is repeated until a final reply. Zero-initialised: it does not wait.
typedef struct Waiter {
    Backoff backoff;
    bool waits;
    char why[256];
} Waiter;

void outage_init(Outage *outage, const char *server);
void outage_release(Outage *outage);
// The call failed once more. Returns the seconds to wait.
double outage_wait(Outage *outage, Waiter *waiter, const Error *err, double retry_after_s);
// It was answered, or is given up. `answered`: by the server, which is said once no call waits any
// more. Fine for one that does not wait.
void outage_over(Outage *outage, Waiter *waiter, bool answered);
