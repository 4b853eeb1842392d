// build/match: a match on the command line. It turns options into a MatchSpec, prints what the
// match reports, writes PGN and stops at an SPRT's verdict; the playing is match.h's.
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../server/common/log.h"
#include "match_args.h"
#include "match_report.h"
#include "pgn_out.h"

enum { PGN_GAME_BYTES_MAX = 4 << 20, EXIT_USAGE = 2 };

typedef struct Run {
    const MatchArgs *args;
    Openings openings;
    EngineSpec engines[2];
    Match *match;
    MatchScore score;
    char detail[256];
    int pgn_fd; // -1: none
    Str pgn;
    SprtVerdict verdict;
} Run;

// For the handler alone; set before signals are let in.
static Match *running_match;
static volatile sig_atomic_t interrupted;

static void on_signal(int number) {
    interrupted = number;
    match_abort(running_match);
}

static Opening opening_of(void *ctx, int pair) {
    const Run *run = ctx;
    return run->openings.items[pair];
}

// ---- output -------------------------------------------------------------------------------------

static int game_number(const MatchArgs *args, int pair, int index) {
    return pair * args->games + index + 1;
}

static void on_start(void *ctx, const GameRecord *game) {
    const MatchArgs *args = ((const Run *)ctx)->args;
    printf("Started game %d of %d (%s vs %s)\n", game_number(args, game->pair, game->index),
           args->rounds * args->games, args->engines[game->white].name,
           args->engines[1 - game->white].name);
}

static void write_pgn(Run *run, const GameRecord *game) {
    const EngineArgs *engines = run->args->engines;
    PgnHeader header = {.event = run->args->event,
                        .site = run->args->site,
                        .names = {engines[0].name, engines[1].name},
                        .control = {engines[0].control, engines[1].control},
                        .chess960 = run->args->book.chess960};
    str_clear(&run->pgn);
    pgn_out_game(&run->pgn, &header, game);
    for (size_t at = 0; at < run->pgn.size;) {
        ssize_t done = write(run->pgn_fd, run->pgn.data + at, run->pgn.size - at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            log_error("cannot write %s: %s", run->args->pgn_file, strerror(errno));
            return;
        }
        at += (size_t)done;
    }
}

static void on_game(void *ctx, const GameRecord *game) {
    Run *run = ctx;
    const EngineArgs *engines = run->args->engines;
    printf("Finished game %d (%s vs %s): %s {%s}\n",
           game_number(run->args, game->pair, game->index), engines[game->white].name,
           engines[1 - game->white].name, game_result_text(game->result), game->reason);
    if (game->kind == GAME_END_ABORTED)
        return;
    match_score_add_game(&run->score, game);
    if (run->pgn_fd >= 0)
        write_pgn(run, game);
}

static void print_report(const Run *run) {
    const MatchArgs *args = run->args;
    MatchTitle title = {.names = {args->engines[0].name, args->engines[1].name},
                        .detail = run->detail,
                        .bounds = args->has_sprt ? &args->sprt : NULL};
    scope(str_release) Str text;
    str_init(&text, 1 << 16);
    match_report(&text, &title, &run->score);
    fputs(text.data, stdout);
}

static void judge(Run *run) {
    const SprtBounds *bounds = &run->args->sprt;
    double llr = match_score_llr(&run->score, bounds);
    if (llr >= sprt_upper(bounds))
        run->verdict = SPRT_ACCEPTED;
    else if (llr <= sprt_lower(bounds))
        run->verdict = SPRT_REJECTED;
    if (run->verdict != SPRT_OPEN)
        match_abort(run->match);
}

static void on_pair(void *ctx, int pair, const GameRecord games[2]) {
    Run *run = ctx;
    const MatchArgs *args = run->args;
    if (run->verdict != SPRT_OPEN)
        return;
    if (args->games == 2)
        match_score_add_pair(&run->score, games);
    if (args->has_sprt)
        judge(run);
    if (args->rating_interval && (pair + 1) % args->rating_interval == 0 &&
        pair + 1 < args->rounds && run->verdict == SPRT_OPEN)
        print_report(run);
}

// ---- setting up ---------------------------------------------------------------------------------

static void describe(Run *run) {
    const MatchArgs *args = run->args;
    const EngineArgs *a = &args->engines[0], *b = &args->engines[1];
    const char *first = a->control, *second = b->control;
    const char *slash = args->book.file ? strrchr(args->book.file, '/') : NULL;
    const char *book = slash ? slash + 1 : args->book.file;
    bool same = strcmp(first, second) == 0;
    snprintf(run->detail, sizeof run->detail, "%s%s%s, %dt%s%s", first, same ? "" : " - ",
             same ? "" : second, a->threads, book ? ", " : "", book ? book : "");
}

static EngineSpec engine_spec(const EngineArgs *args) {
    return (EngineSpec){.name = args->name,
                        .argv = (const char *const *)args->argv,
                        .directory = args->directory,
                        .options = args->options,
                        .option_count = args->option_count,
                        .threads = args->threads,
                        .restart = args->restart,
                        .limit = args->limit};
}

static MatchSpec match_spec(Run *run) {
    const MatchArgs *args = run->args;
    run->engines[0] = engine_spec(&args->engines[0]);
    run->engines[1] = engine_spec(&args->engines[1]);
    return (MatchSpec){.engines = run->engines,
                       .engine_count = 2,
                       .pair_count = args->rounds,
                       .games_per_pair = args->games,
                       .no_swap = args->no_swap,
                       .opening = opening_of,
                       .slots = args->slots,
                       .pin = !args->no_affinity,
                       .chess960 = args->book.chess960,
                       .adjudication = args->adjudication,
                       .startup_ms = args->startup_ms,
                       .ping_ms = args->ping_ms,
                       .on_start = on_start,
                       .on_game = on_game,
                       .on_pair = on_pair,
                       .ctx = run};
}

static void catch_signals(Match *match) {
    struct sigaction action = {.sa_handler = on_signal};
    running_match = match;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static bool open_pgn(Run *run, Error *err) {
    run->pgn_fd = -1;
    str_init(&run->pgn, PGN_GAME_BYTES_MAX);
    if (!run->args->pgn_file)
        return true;
    run->pgn_fd = open(run->args->pgn_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    return run->pgn_fd >= 0 || error_errno(err, "-pgnout file=%s", run->args->pgn_file);
}

static void run_release(Run *run) {
    match_free(run->match);
    openings_release(&run->openings);
    str_release(&run->pgn);
    close_fd(&run->pgn_fd);
}

static int play(Run *run) {
    Error err = {0};
    MatchSpec spec = match_spec(run);
    describe(run);
    run->match = match_new(&spec);
    catch_signals(run->match);
    bool played = match_run(run->match, &err);
    print_report(run);
    if (run->verdict != SPRT_OPEN)
        printf("SPRT (%s): H%d was accepted\n", run->detail, run->verdict == SPRT_ACCEPTED);
    puts(interrupted ? "Interrupted" : "Finished match");
    if (!played)
        fprintf(stderr, "match: %s\n", err.message);
    return interrupted ? 128 + interrupted : played ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv) {
    scope(match_args_release) MatchArgs args;
    scope(run_release) Run run = {.args = &args, .pgn_fd = -1};
    Error err = {0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    rules_init();
    if (!match_args_parse(&args, argc - 1, (const char *const *)argv + 1, &err)) {
        fprintf(stderr, "match: %s\n", err.message);
        return EXIT_USAGE;
    }
    if (args.help) {
        fputs(match_help, stdout);
        return EXIT_SUCCESS;
    }
    if (!openings_load(&run.openings, &args.book, args.rounds, &err) || !open_pgn(&run, &err)) {
        fprintf(stderr, "match: %s\n", err.message);
        return EXIT_FAILURE;
    }
    return play(&run);
}
