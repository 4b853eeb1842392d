// See outage.h.
#include "worker/api/outage.h"

#include <stdio.h>
#include <string.h>

#include "server/common/log.h"
#include "worker/console/status.h"
#include "worker/console/stop.h"

void outage_init(Outage *outage, const char *server) {
    *outage = (Outage){.server = server};
    pthread_mutex_init(&outage->lock, NULL);
}

void outage_release(Outage *outage) {
    pthread_mutex_destroy(&outage->lock);
}

// A reason is said when it is new to this waiter and not what was said last: two calls that fail in
// two ways do not take turns in the log.
static void say(Outage *outage, Waiter *waiter, const char *why) {
    bool news = strcmp(waiter->why, why) != 0;
    snprintf(waiter->why, sizeof waiter->why, "%s", why);
    if (!news || strcmp(outage->said, why) == 0 || stop_failed())
        return; // the last case has been said, and ends the worker
    snprintf(outage->said, sizeof outage->said, "%s", why);
    log_warn("waiting for %s: %s", outage->server, why);
}

double outage_wait(Outage *outage, Waiter *waiter, const Error *err, double retry_after_s) {
    char why[sizeof outage->said];
    snprintf(why, sizeof why, "%.*s", (int)sizeof why - 1, err->message);
    pthread_mutex_lock(&outage->lock);
    outage->waiting += !waiter->waits;
    waiter->waits = true;
    say(outage, waiter, why);
    double pause_s = backoff_next(&waiter->backoff, retry_after_s);
    char shown[2 * sizeof why];
    snprintf(shown, sizeof shown, "%s: %s", outage->server, why);
    status_waiting(shown, pause_s);
    pthread_mutex_unlock(&outage->lock);
    return pause_s;
}

void outage_over(Outage *outage, Waiter *waiter, bool answered) {
    pthread_mutex_lock(&outage->lock);
    outage->waiting -= waiter->waits;
    if (waiter->waits && outage->waiting == 0) {
        if (answered)
            log_info("%s answers again", outage->server);
        outage->said[0] = 0;
        status_waiting(NULL, 0);
    }
    pthread_mutex_unlock(&outage->lock);
    *waiter = (Waiter){0};
}
