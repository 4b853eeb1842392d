// How a match starts its engines, the first time and again: who is to blame where one does not
// start, and what the system has to give (worker/match/match.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/kit/match_kit.h"

enum { GAMES_MAX = 16 };

static struct { int games, kinds[GAMES_MAX], culprits[GAMES_MAX]; } seen;

static void on_game(void *ctx, const GameRecord *game) {
    (void)ctx;
    seen.kinds[seen.games] = (int)game->kind;
    seen.culprits[seen.games++] = game->culprit;
}

// One pair, A with `mode`, or NULL, against a B that behaves.
static MatchSpec spec_for(const char *mode) {
    static const char *argv[] = {kit_toy, NULL, NULL};
    argv[1] = mode;
    seen.games = 0;
    MatchSpec spec = kit_match(argv);
    spec.on_game = on_game;
    return spec;
}

// The first process plays and leaves in its first game; no later one starts.
static void an_engine_that_worked_once_loses_where_it_fails_to_start(void **state) {
    (void)state;
    char file[] = "/tmp/match-starts-XXXXXX", command[1024];
    close(mkstemp(file));
    snprintf(command, sizeof command, "[ -s %s ] && exit 1; printf x >>%s; exec %s exit@go", file,
             file, kit_toy);
    const char *const argv[] = {"/bin/sh", "-c", command, NULL};
    MatchSpec spec = spec_for(NULL);
    kit_engines[0].argv = argv;
    spec.pair_count = 3;
    kit_play_match(&spec);
    unlink(file);
    assert_int_equal(seen.games, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(seen.kinds[i], GAME_END_CRASH);
        assert_int_equal(seen.culprits[i], 0);
    }
}

static void an_engine_that_never_worked_ends_the_match(void **state) {
    (void)state;
    MatchSpec spec = spec_for("exit@uci");
    Error err;
    Match *match = match_new(&spec);
    assert_false(match_run(match, &err));
    match_free(match);
    assert_non_null(strstr(err.message, "A ("));
    assert_non_null(strstr(err.message, "ended before it answered \"uci\""));
    assert_int_equal(seen.games, 0);
}

// A runner that can start no process cannot tell whose fault it is.
static void without_room_for_files_no_match_is_begun(void **state) {
    (void)state;
    struct rlimit usual, few;
    Error err;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    few = (struct rlimit){100, 100};
    MatchSpec spec = spec_for(NULL);
    spec.slots = 40;
    pid_t child = fork(); // a hard limit never goes back up, but for root
    if (child == 0) {
        setrlimit(RLIMIT_NOFILE, &few);
        Match *match = match_new(&spec);
        bool played = match_run(match, &err);
        match_free(match);
        _exit(!played && seen.games == 0 && strstr(err.message, "40 games at a time: ") &&
                      strstr(err.message, "but the limit is 100;")
                  ? 0
                  : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void a_low_limit_of_open_files_is_raised(void **state) {
    (void)state;
    struct rlimit usual, low, now;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    low = (struct rlimit){80, usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    MatchSpec spec = spec_for(NULL);
    spec.slots = 8;
    spec.pair_count = 4;
    kit_play_match(&spec);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    assert_true(now.rlim_cur > 80);
    assert_int_equal(seen.games, 8);
}

int main(void) {
    if (!kit_toy_found())
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engine_that_worked_once_loses_where_it_fails_to_start),
        cmocka_unit_test(an_engine_that_never_worked_ends_the_match),
        cmocka_unit_test(without_room_for_files_no_match_is_begun),
        cmocka_unit_test(a_low_limit_of_open_files_is_raised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
