// build/match: a match on the command line. It turns options into a MatchSpec, prints what the
// match reports, writes its files, and stops when the SPRT has a verdict. match.h plays the games.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/common/log.h"
#include "worker/api/version.h"
#include "worker/match_cli/match_run.h"
#include "worker/os/process.h"

enum { EXIT_USAGE = 2 };

// For the signal handler; set before signals are unblocked.
static Match *running_match;
static volatile sig_atomic_t interrupted;

static void on_signal(int number) {
    interrupted = number;
    match_abort(running_match);
}

static void catch_signals(Match *match) {
    struct sigaction action = {.sa_handler = on_signal};
    running_match = match;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static int complain(const Error *err, int status) {
    fprintf(stderr, "match: %s\n", err->message);
    return status;
}

static int run(MatchRun *s) {
    Error err = {0};
    bool over = s->pairs == s->pair_count || s->verdict != SPRT_OPEN, played = true;
    if (!over) {
        MatchSpec spec = match_run_spec(s);
        s->match = match_new(&spec);
        catch_signals(s->match);
        played = match_run(s->match, &err);
    }
    bool failed = !played || s->stopped;
    match_run_finish(s, over, interrupted ? "interrupted" : failed ? "failed" : "finished");
    puts(interrupted ? "Interrupted" : failed ? "Match failed" : "Finished match");
    if (s->stopped)
        return complain(&s->error, EXIT_FAILURE);
    if (!played)
        return complain(&err, EXIT_FAILURE);
    return interrupted ? 128 + interrupted : EXIT_SUCCESS;
}

// More games than CPUs are harmless for engines that wait, and wrong for the clocks of engines that
// think.
static void warn_of_slots(const MatchArgs *args) {
    OsCpus cpus;
    os_cpus_allowed(&cpus);
    if (args->slots > cpus.count && !args->many_slots)
        log_warn("%d games at a time on %d CPUs: engines that think will wait for each other "
                 "(-force-concurrency turns this warning off)",
                 args->slots, cpus.count);
}

static int play(const MatchArgs *args, int argc, const char *const *argv) {
    scope(match_run_release) MatchRun session;
    Error err = {0};
    if (args->cpus.count && !os_thread_pin(args->cpus.ids, args->cpus.count, &err))
        return complain(&err, EXIT_FAILURE);
    warn_of_slots(args);
    if (!match_run_prepare(&session, args, argc, argv, &err))
        return complain(&err, EXIT_FAILURE);
    return run(&session);
}

static int start(int argc, const char *const *argv) {
    scope(match_args_release) MatchArgs args;
    Error err = {0};
    bool parsed = match_args_parse(&args, argc, argv, &err);
    if (argc == 0)
        return fputs(match_help, stderr) < 0 ? EXIT_FAILURE : EXIT_USAGE;
    if (!parsed)
        return complain(&err, EXIT_USAGE);
    if (args.help)
        fputs(match_help, stdout);
    else if (args.version)
        puts("match (Patchmate) " WORKER_VERSION);
    else
        return play(&args, argc, argv);
    return EXIT_SUCCESS;
}

static int complain_of_words(const char *path) {
    Error err;
    error_set(&err, 422, "no_command", "%s does not hold the command line; give it in full", path);
    return complain(&err, EXIT_USAGE);
}

// If a state file is the only option, the other options are in it.
static int start_from(const char *path) {
    MatchState state;
    Error err = {0};
    bool missing;
    int status = EXIT_FAILURE;
    if (match_state_load(&state, path, &missing, &err)) {
        size_t count = json_array_size(state.command);
        scope(free_ptr) const char **argv = xcalloc(count + 1, sizeof *argv);
        for (size_t i = 0; i < count; i++)
            argv[i] = json_string_value(json_array_get(state.command, i));
        status = count ? start((int)count, argv) : complain_of_words(path);
    } else {
        complain(&err, status);
    }
    match_state_release(&state);
    return status;
}

int main(int argc, char **argv) {
    const char *const *words = (const char *const *)argv + 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    os_become_subreaper();
    rules_init();
    const char *state = match_args_only_state(argc - 1, words);
    return state ? start_from(state) : start(argc - 1, words);
}
