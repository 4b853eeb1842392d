// See speed.h.
#include "worker/build/speed.h"

#include <pthread.h>
#include <stdlib.h>

#include "server/common/bytes_text.h"
#include "server/common/log.h"
#include "worker/console/pacing.h"
#include "worker/os/host.h"
#include "worker/sandbox/job.h"

static const double least_s = 2;
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
    } while (now_s() - start < pacing(least_s) && count < slots * ROUNDS_MAX);
    qsort(speeds, (size_t)count, sizeof *speeds, compare);
    *nodes_per_s = speeds[count / 2];
    return RUN_DONE;
}

RunOutcome speed_measure(const BuildContext *context, const Build *build, const char *const *args,
                         int slots, int64_t memory_bytes, double *nodes_per_s, Error *err) {
    log_info("measuring this machine's speed on %d slots", slots);
    Runner runner = {
        .context = context, .build = build, .args = args, .memory_bytes = memory_bytes / slots};
    return measure(&runner, slots, nodes_per_s, err);
}
