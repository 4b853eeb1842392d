// See upkeep.h.
#include "worker/daemon/upkeep.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/common/log.h"
#include "worker/cache/trim.h"

// The disk space for the build of an engine with its nets, and the space that trimming aims at.
enum { ROOM_LEAST_MIB = 64, ROOM_WANTED_MIB = 256 };
static const double slept_least_s = 1;

static int64_t mib(int64_t bytes) {
    return bytes >> 20;
}

static void say_crowded(Upkeep *upkeep, const Trim *trim, int64_t max_bytes) {
    bool over = trim->bytes > max_bytes;
    if (over && !upkeep->crowded)
        log_warn("the cache has %" PRId64 " MiB, --cache-size allows %" PRId64 ": %s",
                 mib(trim->bytes), mib(max_bytes),
                 *trim->error.message ? trim->error.message : "all of it is in use");
    upkeep->crowded = over;
}

static bool check_disk(Upkeep *upkeep, const Worker *w, Error *why) {
    Trim trim;
    int64_t max_bytes = (int64_t)w->config->cache_mib << 20;
    trim_store(&w->store, max_bytes, (int64_t)ROOM_WANTED_MIB << 20, &trim);
    if (trim.removed)
        log_info("removed %d old builds and downloads, %" PRId64 " MiB", trim.removed,
                 mib(trim.removed_bytes));
    say_crowded(upkeep, &trim, max_bytes);
    if (trim.free < 0 || mib(trim.free) >= ROOM_LEAST_MIB)
        return true;
    return error_set(why, 503, "disk_full",
                     "room on the disk: %" PRId64 " MiB are free at %s, a build needs %d",
                     mib(trim.free), w->store.root, ROOM_LEAST_MIB);
}

static bool check_sandbox(const Worker *w, Error *why) {
    if (sandbox_works(&w->sandbox))
        return true;
    return error_set(why, 503, "no_sandbox",
                     "a sandbox that works: level %d worked at the start, and "
                     "no longer does",
                     w->sandbox.level);
}

// While the machine sleeps, the clocks of the worker and of the engines stop together, so a running
// game continues undisturbed. But the measured speeds are discarded, because the machine may run on
// battery now.
static void notice_sleep(Upkeep *upkeep, const Worker *w) {
    OsBoot boot;
    os_boot(&boot);
    double slept = boot.slept_s - upkeep->slept_s;
    if (upkeep->slept_s > 0 && slept > slept_least_s) {
        log_info("this machine slept for %.0f s; its speed is measured again", slept);
        json_object_clear(w->speeds);
    }
    upkeep->slept_s = boot.slept_s > 0 ? boot.slept_s : 1e-9;
}

bool upkeep_check(Upkeep *upkeep, Worker *worker, bool after_failure, Error *why) {
    notice_sleep(upkeep, worker);
    bool fit = check_disk(upkeep, worker, why) && (!after_failure || check_sandbox(worker, why));
    if (!fit && !upkeep->waits)
        log_warn("waiting for %s", why->message);
    if (fit && upkeep->waits)
        log_info("this machine can work again");
    upkeep->waits = !fit;
    return fit;
}
