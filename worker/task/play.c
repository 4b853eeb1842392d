// See play.h.
#include "worker/task/play.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/log.h"
#include "worker/console/status.h"
#include "worker/match/time_scale.h"
#include "worker/task/attachments.h"
#include "worker/task/ending.h"
#include "worker/task/fault_report.h"

enum { STARTUP_MS = 10000, PING_MS = 10000 };
static const int64_t load_every_ns = 1800LL * 1000000000;

typedef struct Play {
    Worker *worker;
    const PlaySpec *spec;
    MatchLimit limits[SIDE_COUNT]; // as scaled
    char tc[TC_TEXT_MAX];
    PlayedBatch *batch; // that is being played
    int seq;
    CpuUse use;      // when the batch began
    LoadMeter meter; // since then
    double speed_before;
    Attachments attachments;
    int fault_report_count; // of the task
    int failed;             // side whose engine never worked; -1: none
} Play;

static void new_batch(Play *p) {
    const Task *task = p->spec->task;
    p->batch = xcalloc(1, sizeof *p->batch);
    batch_init(&p->batch->batch, task->id, p->seq++, task->batch_pairs);
    p->batch->test = task->test_id;
    snprintf(p->batch->tc, sizeof p->batch->tc, "%s", p->tc);
    p->batch->speed = p->spec->speed;
    os_cpu_use(&p->use);
    load_begin(&p->meter);
}

static void drop_batch(Play *p) {
    batch_release(&p->batch->batch);
    free(p->batch);
    p->batch = NULL;
    attachments_drop(&p->attachments);
}

// The share of the machine's CPU time that other programs used since the batch began. The CPU time
// of our processes that have ended is missing from ours, so the result is kept within 0 and 1.
static double busy_share(const CpuUse *before) {
    CpuUse now;
    os_cpu_use(&now);
    double wall = now.wall_s - before->wall_s;
    double others = (now.all_s - before->all_s) - (now.ours_s - before->ours_s);
    double share = wall > 0 ? others / wall : 0;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

// ---- the match's callbacks ----------------------------------------------------------------------

static Opening opening_of(void *ctx, int pair) {
    const Play *p = ctx;
    return p->spec->task->openings[pair];
}

static void count_game(Status *status, void *ctx) {
    const GameRecord *game = ctx;
    bool new_won = (game->result == RESULT_WHITE_WINS) == (game->white == 0);
    status->games_total++;
    status->draws += game->result == RESULT_DRAW;
    status->wins += game->result != RESULT_DRAW && new_won;
    status->losses += game->result != RESULT_DRAW && !new_won;
}

static void on_game(void *ctx, const GameRecord *game) {
    const Play *p = ctx;
    if (game->kind == GAME_END_ABORTED)
        return;
    status_update(count_game, (void *)game);
    log_debug("task %" PRId64 " pair %d: %s (%s)", p->spec->task->id, game->pair,
              game_result_text(game->result), game->reason);
    if (game->culprit >= 0)
        log_warn("%s of test %" PRId64 ": %s", p->spec->task->sides[game->culprit].name,
                 p->spec->task->test_id, game->reason);
}

static void keep_fault_report(Play *p, const GameRecord *game) {
    const MatchLimit *limits = p->limits;
    char control[SIDE_COUNT][TC_TEXT_MAX];
    if (!fault_report_is_in(game) || p->fault_report_count == FAULT_REPORT_A_TASK)
        return;
    FaultContext context = {p->spec->task,
                            {limit_text(&limits[SIDE_NEW], control[SIDE_NEW]),
                             limit_text(&limits[SIDE_BASE], control[SIDE_BASE])}};
    attachments_add(&p->attachments, fault_report_item(game, &context, p->fault_report_count++),
                    game->pair);
}

// Logged only from time to time: volunteers can act on it, but need not see it often.
static void log_load(Play *p) {
    char text[LOAD_TEXT_MAX];
    int64_t now = os_now_ns(), *logged = &p->worker->load_logged_ns;
    const char *mark = load_flag(&p->batch->load, p->batch->busy, text);
    if (!mark || !limit_is_scaled(&p->limits[SIDE_BASE]) ||
        (*logged && now - *logged < load_every_ns))
        return;
    *logged = now;
    log_warn("this machine %s: the games played meanwhile count, but are flagged", mark);
}

static void measure_load(Play *p) {
    p->batch->busy = busy_share(&p->use);
    p->batch->load = load_end(&p->meter, p->speed_before);
    p->speed_before = p->batch->load.speed_before;
    log_load(p);
}

static void count_pair(Status *status, void *ctx) {
    (void)ctx;
    status->pairs_done++;
}

static void on_pair(void *ctx, int pair, const GameRecord games[2]) {
    Play *p = ctx;
    const Task *task = p->spec->task;
    GameContext context = {&task->openings[pair],
                           task->first_pair + pair,
                           {p->limits[SIDE_NEW], p->limits[SIDE_BASE]}};
    batch_add(&p->batch->batch, games, &context);
    for (int i = 0; i < 2; i++) {
        load_add(&p->meter, &games[i]);
        keep_fault_report(p, &games[i]);
    }
    status_update(count_pair, NULL);
    if (!batch_is_full(&p->batch->batch))
        return;
    measure_load(p);
    uploader_batch(p->worker->uploader, p->batch);
    attachments_release(&p->attachments, pair + 1);
    new_batch(p);
}

static int game_number(const GameRecord *game) {
    return 2 * game->pair + game->index;
}

static bool plays_on(void *ctx, const GameRecord *game) {
    const Play *p = ctx;
    return p->spec->task->play_on[game_number(game)];
}

static void on_played_on(void *ctx, const PlayedOn *played) {
    Play *p = ctx;
    const GameRecord *game = played->game;
    attachments_add(&p->attachments, ending_item(played, p->spec->task->id, game_number(game)),
                    game->pair);
}

// The first failure is enough; those of other slots are ignored.
static void on_failure(void *ctx, const GameRecord *game) {
    Play *p = ctx;
    if (p->failed >= 0)
        return;
    p->failed = game->culprit;
    if (game->fault_report)
        str_printf(p->spec->log, "%s\nWhat was said:\n%s\nOn standard error:\n%s", game->reason,
                   game->fault_report->protocol_log[game->culprit],
                   game->fault_report->errors[game->culprit]);
}

// ---- setting up ---------------------------------------------------------------------------------

// The options of the task, and Threads, which is a member of its own.
static EngineOption *engine_options(const TaskSide *side, const char *threads, int *count) {
    EngineOption *options = xcalloc((size_t)side->option_count + 1, sizeof *options);
    *count = 0;
    for (int i = 0; i < side->option_count; i++)
        if (strcasecmp(side->options[i].name, "Threads") != 0)
            options[(*count)++] = side->options[i];
    if (strcmp(threads, "1") != 0)
        options[(*count)++] = (EngineOption){"Threads", threads};
    return options;
}

static void scale_limits(Play *p) {
    const PlaySpec *spec = p->spec;
    for (int i = 0; i < SIDE_COUNT; i++) {
        p->limits[i] = spec->task->sides[i].limit;
        if (limit_is_scaled(&p->limits[i]))
            limit_scale(&p->limits[i], spec->factor);
    }
    limit_text(&p->limits[SIDE_NEW], p->tc);
}

static void start_status(Status *status, void *ctx) {
    const Task *task = ctx;
    status->pairs = task->pairs;
    status->pairs_done = task->next_seq * task->batch_pairs;
    status->wins = status->losses = status->draws = 0;
}

static bool run_match(Play *p, const EngineSpec engines[2], int *started_pairs, Error *err) {
    const Task *task = p->spec->task;
    int first = task->next_seq * task->batch_pairs;
    MatchSpec match_spec = {
        .engines = engines,
        .engine_count = 2,
        .pair_first = first,
        .pair_count = task->pairs - first,
        .pairs_together = task->batch_pairs,
        .games_per_pair = 2,
        .opening = opening_of,
        .slots = p->spec->slots,
        .pin = host_pins(&p->worker->host),
        .chess960 = task->chess960,
        .adjudication = task->adjudication,
        .no_pondering = true,
        .startup_ms = STARTUP_MS,
        .ping_ms = PING_MS,
        .on_game = on_game,
        .on_pair = on_pair,
        .plays_on = plays_on,
        .on_played_on = on_played_on,
        .on_failure = on_failure,
        .ctx = p,
    };
    Match *match = match_new(&match_spec);
    running_set_match(&p->worker->running, match);
    bool ran = match_run(match, err);
    *started_pairs = match_next_pair(match);
    running_set_match(&p->worker->running, NULL);
    match_free(match);
    return ran;
}

bool play(Worker *worker, const PlaySpec *spec, int *started_pairs, Error *err) {
    const Task *task = spec->task;
    Play p = {.worker = worker,
              .spec = spec,
              .seq = task->next_seq,
              .failed = -1,
              .attachments.uploader = worker->uploader};
    scope(argv_release) Argv new_argv = {0};
    scope(argv_release) Argv base_argv = {0};
    Argv *argv[SIDE_COUNT] = {&new_argv, &base_argv};
    EngineOption *options[SIDE_COUNT];
    EngineSpec engines[SIDE_COUNT];
    OsLimits limits[SIDE_COUNT];
    char threads[SIDE_COUNT][16];
    scale_limits(&p);
    for (int i = 0; i < SIDE_COUNT; i++) {
        const TaskSide *side = &task->sides[i];
        snprintf(threads[i], sizeof threads[i], "%d", side->threads);
        build_command(spec->context, &spec->builds[i], spec->memory_mib[i] << 20, argv[i],
                      &limits[i]);
        engines[i] = (EngineSpec){.name = side->name,
                                  .argv = (const char *const *)argv[i]->items,
                                  .threads = side->threads,
                                  .limits = &limits[i],
                                  .limit = p.limits[i]};
        options[i] = engine_options(side, threads[i], &engines[i].option_count);
        engines[i].options = options[i];
    }
    status_update(start_status, (void *)task);
    log_info("test %" PRId64 " (%s): %d pairs at %s, %d at a time", task->test_id, task->title,
             task->pairs - task->next_seq * task->batch_pairs, p.tc, spec->slots);
    new_batch(&p);
    bool ran = run_match(&p, engines, started_pairs, err);
    if (!ran)
        snprintf(err->field, sizeof err->field, "%s",
                 p.failed >= 0 ? task->sides[p.failed].name : "");
    drop_batch(&p);
    free(options[SIDE_NEW]);
    free(options[SIDE_BASE]);
    return ran;
}
