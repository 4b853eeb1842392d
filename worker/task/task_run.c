// One task, from the server's reply to the claim to the final report.
//
// task_run() reads and checks the document of the task. run_steps() then checks that a game fits
// into the CPUs and the memory of this machine, fetches the snapshots and the nets, checks the
// memory again because the size of the nets is now known, builds both sides, and runs the bench of
// both. The bench must search the number of nodes that the test declares; if the commit has none
// yet, the number is reported. The engine lists its options, which are reported, too; those of the
// test must fit them. The reference engine is built and its speed measured, which scales the
// clocks. Then the games are played (play.c). Each step continues, fails, or stops because the
// server or the volunteer wants it. Meanwhile the uploader sends heartbeats with the progress,
// and a reply of the server may stop the task at any moment. If not all pairs were played, a final
// report follows: "fail" with the kind of failure, the side, a message and the end of the log, or
// "release", which returns the pairs that were not started.
//
// A failed step is not tried again: the server decides who gets the pairs. An error after a stop is
// not reported as a failure, because the stop itself may have caused it. Results are not part of
// the final report: they are sent batch by batch during play.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/common/log.h"
#include "server/common/uci_option.h"
#include "worker/build/plain_text.h"
#include "worker/cache/durations.h"
#include "worker/cache/fetch.h"
#include "worker/console/status.h"
#include "worker/console/stop.h"
#include "worker/task/demand.h"
#include "worker/task/play.h"
#include "worker/task/side_options.h"

typedef enum { STEP_ON, STEP_STOPPED, STEP_FAILED } Step;

typedef struct TaskRun {
    Worker *worker;
    Task task;
    BuildContext context;
    _Atomic(const char *) phase;
    atomic_int started_pairs; // pairs with a started game, before and after the match
    Build builds[SIDE_COUNT];
    double factor, speed;
    bool stopped_by_server;
    struct {
        const char *kind, *side;
        int64_t bench; // the printed number, for kind bench; 0: none
        Error error;
        Str log;
    } failure;
} TaskRun;

static Step fail(TaskRun *run, const char *kind, const char *side) {
    run->failure.kind = kind;
    run->failure.side = side;
    return STEP_FAILED;
}

static void enter_phase(TaskRun *run, const char *phase) {
    atomic_store(&run->phase, phase);
    status_phase(phase);
    uploader_heartbeat_soon(run->worker->uploader);
}

// ---- progress for the uploader ------------------------------------------------------------------

static Progress progress(void *ctx) {
    TaskRun *run = ctx;
    Progress p = {.phase = atomic_load(&run->phase)};
    running_progress(&run->worker->running, &p.plies, &p.started_pairs);
    int started_pairs = atomic_load(&run->started_pairs);
    if (p.started_pairs < started_pairs)
        p.started_pairs = started_pairs; // the match has not started or has ended
    return p;
}

// A task that is done has given all its pairs; games that are still being played on go on.
static void stop_run(void *ctx, const char *why) {
    TaskRun *run = ctx;
    if (strcmp(why, "done") == 0)
        return;
    log_info("task %" PRId64 " ends: %s", run->task.id, why);
    run->stopped_by_server = true;
    running_abort(&run->worker->running);
}

// ---- steps --------------------------------------------------------------------------------------

static Step fetch_one(TaskRun *run, const char *sha256, int64_t max_bytes) {
    Worker *w = run->worker;
    switch (fetch_blob(&w->api, &w->store, sha256, max_bytes, &run->failure.error)) {
    case API_OK:
        return STEP_ON;
    case API_CANCELLED:
        return STEP_STOPPED;
    default:
        return fail(run, "machine", "");
    }
}

static Step fetch_side(TaskRun *run, const TaskSide *side) {
    const TaskFiles *files = &side->build.files;
    Step step = fetch_one(run, side->snapshot, FETCH_SNAPSHOT_MAX);
    for (int i = 0; i < files->count && step == STEP_ON; i++)
        step = fetch_one(run, files->items[i].blob, FETCH_FILE_MAX);
    return step;
}

static Step fetch_all(TaskRun *run) {
    Step step = STEP_ON;
    enter_phase(run, "fetch");
    for (int i = 0; i < SIDE_COUNT && step == STEP_ON; i++)
        step = fetch_side(run, &run->task.sides[i]);
    if (step == STEP_ON && run->task.has_scale)
        step = fetch_side(run, &run->task.reference);
    return step;
}

// If the reference engine cannot be built, that is not the fault of a patch.
static Step build_one(TaskRun *run, const TaskSide *side, Build *out) {
    const Store *store = &run->worker->store;
    int64_t start_ns = os_now_ns();
    str_clear(&run->failure.log);
    status_step(side->name, duration_usual_s(store, side->engine, "build"));
    switch (build_engine(&run->context, &side->build, side->snapshot, out, &run->failure.log,
                         &run->failure.error)) {
    case BUILD_DONE:
        duration_note(store, side->engine, "build", (double)(os_now_ns() - start_ns) / 1e9);
        return STEP_ON;
    case BUILD_CANCELLED:
        return STEP_STOPPED;
    case BUILD_FAILED:
        return side == &run->task.reference ? fail(run, "machine", "")
                                            : fail(run, "build", side->name);
    default:
        return fail(run, "machine", "");
    }
}

static Step build_all(TaskRun *run) {
    Step step = STEP_ON;
    enter_phase(run, "build");
    for (int i = 0; i < SIDE_COUNT && step == STEP_ON; i++)
        step = build_one(run, &run->task.sides[i], &run->builds[i]);
    return step;
}

// Reports the bench of a commit that has none yet, and the options of its engine.
static Step report_bench(TaskRun *run, const TaskSide *side, const Bench *bench,
                         const char *options) {
    char path[64];
    ApiReply reply scope(api_reply_release) = {0};
    snprintf(path, sizeof path, "tasks/%" PRId64 "/bench", run->task.id);
    json_auto_t *body = json_pack("{s:s, s:I, s:s}", "side", side->name, "nodes",
                                  (json_int_t)bench->nodes, "options", options);
    ApiCall call = {.method = "POST", .path = path, .body = body, .expects = "continue"};
    ApiOutcome outcome = api_insist(&run->worker->api, &call, &reply, &run->failure.error);
    if (outcome == API_REFUSED && strcmp(run->failure.error.code, "bench_differs") == 0) {
        run->failure.bench = bench->nodes;
        return fail(run, "bench", side->name);
    }
    bool goes_on = json_is_true(json_object_get(reply.json, "continue"));
    return outcome == API_OK && goes_on ? STEP_ON : STEP_STOPPED;
}

static int64_t memory_bytes(const TaskRun *run) {
    return (int64_t)run->worker->host.memory_mib << 20;
}

// The list is sent before it is judged, so that the server can weigh a failure by it.
static Step judge_options(TaskRun *run, const TaskSide *side, const Build *build,
                          const Bench *bench) {
    bool too_long = false;
    Error *err = &run->failure.error;
    Str list scope(str_release);
    str_init(&list, UCI_LIST_BYTES_MAX);
    str_clear(&run->failure.log);
    if (side_options_read(&run->context, build, side, memory_bytes(run), &list, &too_long,
                          &run->failure.log, err) != RUN_DONE)
        return fail(run, "engine", side->name);
    if (!side->bench || side->wants_options) {
        Step step = report_bench(run, side, bench, list.data);
        if (step != STEP_ON)
            return step;
    }
    if (too_long)
        error_set(err, 422, "option_missing",
                  "the engine lists more options than can be checked: at most %d lines and %d KiB",
                  UCI_LIST_LINES_MAX, UCI_LIST_BYTES_MAX >> 10);
    else if (side_options_fit(side, run->task.chess960, list.data, err))
        return STEP_ON;
    str_puts(&run->failure.log, list.data);
    return fail(run, "option", side->name);
}

static Step judge_bench(TaskRun *run, const TaskSide *side, const Bench *bench) {
    if (!side->bench || bench->nodes == side->bench)
        return STEP_ON;
    error_set(&run->failure.error, 422, "wrong_bench",
              "bench printed %" PRId64 " nodes, the test says %" PRId64, bench->nodes, side->bench);
    run->failure.bench = bench->nodes;
    return fail(run, "bench", side->name);
}

static Step bench_one(TaskRun *run, const TaskSide *side, const Build *build) {
    Bench bench;
    status_step(side->name, 0);
    str_clear(&run->failure.log);
    switch (bench_run(&run->context, build, side->build.bench_args, memory_bytes(run), &bench,
                      &run->failure.log, &run->failure.error)) {
    case RUN_DONE: {
        Step step = judge_bench(run, side, &bench);
        return step == STEP_ON ? judge_options(run, side, build, &bench) : step;
    }
    case RUN_CANCELLED:
        return STEP_STOPPED;
    default:
        return fail(run, "bench", side->name);
    }
}

static int slots_of(const TaskRun *run, const GameMemory *demand) {
    const Host *host = &run->worker->host;
    return demand_slots(demand, host->cores, host->memory_mib);
}

static bool is_scaled(const Task *task) {
    return limit_is_scaled(&task->sides[SIDE_NEW].limit) ||
           limit_is_scaled(&task->sides[SIDE_BASE].limit);
}

static Step measure_reference(TaskRun *run, const Build *reference) {
    GameMemory demand = demand_of_task(&run->task, &run->worker->store);
    status_step("speed", 0);
    RunOutcome outcome =
        speed_measure(&run->context, reference, run->task.reference.build.bench_args,
                      slots_of(run, &demand) * game_cores(&demand), memory_bytes(run), &run->speed,
                      &run->failure.error);
    if (outcome == RUN_CANCELLED)
        return STEP_STOPPED;
    if (outcome == RUN_FAILED)
        return fail(run, "machine", "");
    json_object_set_new(run->worker->speeds, run->task.engine, json_real(run->speed));
    bool fits = clock_scale_factor(&run->task.scale, run->speed, &run->factor);
    if (fits || !is_scaled(&run->task))
        return STEP_ON;
    error_set(&run->failure.error, 422, "too_slow",
              "this machine makes %.0f nodes/s on a slot, the test needs at least %.0f", run->speed,
              clock_scale_least(&run->task.scale));
    return fail(run, "machine", "");
}

static Step scale_clock(TaskRun *run) {
    run->factor = 1;
    if (!run->task.has_scale)
        return STEP_ON;
    scope(build_release) Build reference = {0};
    Step step = build_one(run, &run->task.reference, &reference);
    return step == STEP_ON ? measure_reference(run, &reference) : step;
}

static Step bench_all(TaskRun *run) {
    Step step = STEP_ON;
    enter_phase(run, "bench");
    for (int i = 0; i < SIDE_COUNT && step == STEP_ON; i++)
        step = bench_one(run, &run->task.sides[i], &run->builds[i]);
    return step == STEP_ON ? scale_clock(run) : step;
}

static Step play_all(TaskRun *run) {
    const Task *task = &run->task;
    GameMemory demand = demand_of_task(task, &run->worker->store);
    PlaySpec spec = {.task = task,
                     .builds = run->builds,
                     .context = &run->context,
                     .factor = run->factor,
                     .speed = run->speed,
                     .slots = slots_of(run, &demand),
                     .log = &run->failure.log};
    for (int i = 0; i < SIDE_COUNT; i++)
        spec.memory_mib[i] = game_limit_mib(&demand, i, run->worker->host.memory_mib, spec.slots);
    int started_pairs = atomic_load(&run->started_pairs);
    str_clear(&run->failure.log);
    enter_phase(run, "play");
    bool played = play(run->worker, &spec, &started_pairs, &run->failure.error);
    atomic_store(&run->started_pairs, started_pairs);
    if (!played)
        return fail(run, "engine", run->failure.error.field);
    return started_pairs < task->pairs ? STEP_STOPPED : STEP_ON;
}

// Checked before anything is fetched and built, and again when the nets are here.
static Step check_room(TaskRun *run) {
    const Host *host = &run->worker->host;
    GameMemory demand = demand_of_task(&run->task, &run->worker->store);
    bool fits = demand_fits(&demand, host->cores, host->memory_mib, &run->failure.error);
    return fits ? STEP_ON : fail(run, "machine", "");
}

static Step run_steps(TaskRun *run) {
    static Step (*const steps[])(TaskRun *) = {check_room, fetch_all, check_room,
                                               build_all,  bench_all, play_all};
    Step step = STEP_ON;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && step == STEP_ON; i++)
        step = steps[i](run);
    return step;
}

// ---- the final report ---------------------------------------------------------------------------

enum { MESSAGE_MAX = 1000, LOG_MAX = 60000 };

// The most useful line is put into the message, because lists of failures show only that.
static void name_first_error(TaskRun *run) {
    char line[400];
    Error *error = &run->failure.error;
    const Str *log = &run->failure.log;
    if (strcmp(run->failure.kind, "build") != 0 ||
        !*first_error(log->data, log->size, line, sizeof line))
        return;
    size_t n = strlen(error->message);
    snprintf(error->message + n, sizeof error->message - n, ": %s", line);
}

static void send_failure(Worker *worker, int64_t task, const TaskRun *run) {
    const Error *error = &run->failure.error;
    const Str *log = &run->failure.log;
    json_t *bench = run->failure.bench ? json_integer(run->failure.bench) : json_null();
    log_warn("task %" PRId64 " failed (%s%s%s): %s", task, run->failure.kind,
             *run->failure.side ? ", " : "", run->failure.side, error->message);
    uploader_final_report(worker->uploader, task, "fail",
                          json_pack("{s:s, s:s, s:o, s:o, s:o, s:i}", "kind", run->failure.kind,
                                    "side", run->failure.side, "message",
                                    plain_line(error->message, MESSAGE_MAX), "log",
                                    plain_tail(log->data, log->size, LOG_MAX), "bench", bench,
                                    "started_pairs", run->started_pairs));
}

static bool machine_failed(const TaskRun *run) {
    return strcmp(run->failure.kind, "machine") == 0 || strcmp(run->failure.kind, "sandbox") == 0;
}

static TaskEnd finish(TaskRun *run, Step step) {
    Worker *w = run->worker;
    uploader_end(w->uploader);
    if (step == STEP_FAILED && !run->stopped_by_server && stop_level() == STOP_NO) {
        name_first_error(run);
        send_failure(w, run->task.id, run);
        return machine_failed(run) ? TASK_END_BROKEN : TASK_END_FAILED;
    }
    if (step != STEP_ON && run->started_pairs < run->task.pairs)
        uploader_final_report(w->uploader, run->task.id, "release",
                              json_pack("{s:i}", "started_pairs", run->started_pairs));
    return stop_level() == STOP_NO ? TASK_END_DONE : TASK_END_HANDED_BACK;
}

static void set_test(Status *status, void *ctx) {
    const Task *task = ctx;
    status->test = task->test_id;
    *status->summary = 0;
    snprintf(status->title, sizeof status->title, "%s", task->title);
}

static TaskEnd work_on(TaskRun *run) {
    Worker *w = run->worker;
    UploaderTask watched = {run->task.id, progress, stop_run, run};
    run->context =
        (BuildContext){&w->store,          &w->sandbox,        w->host.build_key, w->host.cores,
                       &w->running.cancel, w->config->build_s, w->host.memory_mib};
    atomic_store(&run->started_pairs, run->task.next_seq * run->task.batch_pairs);
    atomic_store(&run->phase, "fetch");
    status_update(set_test, &run->task);
    uploader_begin(w->uploader, &watched);
    TaskEnd end = finish(run, run_steps(run));
    status_phase("");
    store_let_go(&w->store);
    for (int i = 0; i < SIDE_COUNT; i++)
        build_release(&run->builds[i]);
    return end;
}

TaskEnd task_run(Worker *worker, json_t *document) {
    TaskRun run = {.worker = worker};
    TaskEnd end = TASK_END_FAILED;
    str_init(&run.failure.log, 1 << 20);
    if (task_read(&run.task, document, &run.failure.error)) {
        end = work_on(&run);
        task_release(&run.task);
    } else {
        fail(&run, "machine", "");
        send_failure(worker, task_id(document), &run);
    }
    str_release(&run.failure.log);
    return end;
}
