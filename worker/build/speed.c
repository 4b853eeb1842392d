// See speed.h.
#include "worker/build/speed.h"

#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/bytes_text.h"
#include "server/common/file.h"
#include "server/common/log.h"
#include "worker/os/host.h"
#include "worker/sandbox/job.h"

static const double least_s = 2, kept_s = 6 * 3600, slept_max_s = 1;
enum { ROUNDS_MAX = 20, OUTPUT_MAX = JOB_OUTPUT_MAX };

static int time_limit(const BuildContext *context) {
    return context->limit_s ? context->limit_s : BENCH_LIMIT_S;
}

static RunOutcome judge(const BuildContext *context, const JobResult *result, Bench *out,
                        Error *err) {
    if (result->end == JOB_CANCELLED)
        return RUN_CANCELLED;
    if (result->end == JOB_TIMED_OUT)
        return error_set(err, 422, "no_bench", "bench took longer than %d s", time_limit(context)),
               RUN_FAILED;
    if (*result->limit_exceeded)
        return error_set(err, 422, "no_bench", "bench was ended: it %s", result->limit_exceeded),
               RUN_FAILED;
    if (result->status != 0)
        return error_set(err, 422, "no_bench", "bench ended with status %d", result->status),
               RUN_FAILED;
    if (!bench_read(result->output.data, result->output.size, out, err))
        return RUN_FAILED;
    if (out->speed <= 0 && result->seconds > 0)
        out->speed = (double)out->nodes / result->seconds;
    return RUN_DONE;
}

RunOutcome bench_run(const BuildContext *context, const Build *build, const char *const *args,
                     int64_t memory_bytes, Bench *out, Str *log, Error *err) {
    scope(argv_release) Argv argv = {0};
    OsLimits limits;
    build_command(context, build, memory_bytes, &argv, &limits);
    argv_add_all(&argv, args);
    JobSpec job = {(const char *const *)argv.items, time_limit(context), context->cancel, &limits};
    scope(job_result_release) JobResult result;
    if (!job_run(&job, &result, err))
        return RUN_FAILED;
    if (log)
        bytes_text_add(log, result.output.data, result.output.size);
    return judge(context, &result, out, err);
}

// ---- all slots at once --------------------------------------------------------------------------

typedef struct Runner {
    pthread_t thread;
    const BuildContext *context;
    const Build *build;
    const char *const *args;
    int64_t memory_bytes;
    RunOutcome outcome;
    Bench bench;
    Error error;
} Runner;

static void *run_one(void *ctx) {
    Runner *r = ctx;
    r->outcome =
        bench_run(r->context, r->build, r->args, r->memory_bytes, &r->bench, NULL, &r->error);
    return NULL;
}

// One round; speeds[i] for each slot. The first that failed tells why.
static RunOutcome run_round(Runner *runners, int slots, double *speeds, Error *err) {
    RunOutcome outcome = RUN_DONE;
    for (int i = 0; i < slots; i++)
        if (pthread_create(&runners[i].thread, NULL, run_one, &runners[i]) != 0)
            fatal("cannot start a thread");
    for (int i = 0; i < slots; i++) {
        pthread_join(runners[i].thread, NULL);
        speeds[i] = runners[i].bench.speed;
        if (runners[i].outcome != RUN_DONE && outcome == RUN_DONE) {
            outcome = runners[i].outcome;
            *err = runners[i].error;
        }
    }
    return outcome;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double now_s(void) {
    return (double)os_now_ns() / 1e9;
}

// Each of `slots` runners is a copy of `like`.
static RunOutcome measure(const Runner *like, int slots, double *nodes_per_s, Error *err) {
    Runner *runners scope(free_ptr) = xcalloc((size_t)slots, sizeof *runners);
    double *speeds scope(free_ptr) = xcalloc((size_t)slots * ROUNDS_MAX, sizeof *speeds);
    for (int i = 0; i < slots; i++)
        runners[i] = *like;
    double start = now_s();
    int count = 0;
    do {
        RunOutcome outcome = run_round(runners, slots, speeds + count, err);
        if (outcome != RUN_DONE)
            return outcome;
        count += slots;
    } while (now_s() - start < least_s && count < slots * ROUNDS_MAX);
    qsort(speeds, (size_t)count, sizeof *speeds, compare);
    *nodes_per_s = speeds[count / 2];
    return RUN_DONE;
}

// ---- kept with the build ------------------------------------------------------------------------

// What a measurement depends on beside the build and the number of slots. The clock is the time
// since the machine was started, so that a change of the date does not matter.
typedef struct Conditions {
    OsBoot boot;
    int nice;
} Conditions;

static Conditions conditions_now(void) {
    Conditions now = {.nice = os_nice()};
    os_boot(&now.boot);
    return now;
}

static bool read_kept(const char *path, const Conditions *now, double *nodes_per_s) {
    Error ignored;
    char *text scope(free_ptr) = file_read(path, 1024, NULL, &ignored);
    json_auto_t *root = text ? json_loads(text, 0, NULL) : NULL;
    const char *boot = "";
    double at_s = 0, slept_s = 0;
    int nice = 0;
    if (!root || json_unpack(root, "{s:F, s:F, s:F, s:i, s:s}", "speed", nodes_per_s, "at_s", &at_s,
                             "slept_s", &slept_s, "nice", &nice, "boot", &boot) < 0)
        return false;
    double age_s = now->boot.seconds - at_s;
    return *nodes_per_s > 0 && age_s >= 0 && age_s < kept_s && strcmp(boot, now->boot.id) == 0 &&
           nice == now->nice && fabs(now->boot.slept_s - slept_s) < slept_max_s;
}

static void keep(const char *path, const Conditions *now, double nodes_per_s) {
    Error err;
    json_auto_t *root =
        json_pack("{s:f, s:f, s:f, s:i, s:s}", "speed", nodes_per_s, "at_s", now->boot.seconds,
                  "slept_s", now->boot.slept_s, "nice", now->nice, "boot", now->boot.id);
    char *text scope(free_ptr) = json_dumps(root, 0);
    if (!file_write_durable(path, text, strlen(text), &err))
        log_warn("%s", err.message);
}

RunOutcome speed_measure(const BuildContext *context, const Build *build, const char *const *args,
                         int slots, int64_t memory_bytes, double *nodes_per_s, Error *err) {
    char *path scope(free_ptr) = xasprintf("%s/speed-%d.json", build->folder, slots);
    Conditions now = conditions_now();
    if (read_kept(path, &now, nodes_per_s))
        return RUN_DONE;
    log_info("measuring this machine's speed on %d slots", slots);
    Runner runner = {
        .context = context, .build = build, .args = args, .memory_bytes = memory_bytes / slots};
    RunOutcome outcome = measure(&runner, slots, nodes_per_s, err);
    if (outcome == RUN_DONE)
        keep(path, &now, *nodes_per_s);
    return outcome;
}
