// What a match records beside moves and results: fault reports, kept lines, logs, warnings,
// and where time went. With toy engines as processes (worker/match/match.h).
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/common/str.h"
#include "tests/kit/match_kit.h"
#include "worker/os/process.h"

enum { GAMES_MAX = 16, PATIENCE_US = 600000000 };

typedef struct Ended {
    GameEndKind kind;
    GameResult result;
    int white, culprit, plies;
    bool overloaded;
    int64_t lasted_us;
    char reason[160];
    char *protocol_log[2], *errors[2]; // copies; NULL without fault reports
} Ended;

typedef struct Seen {
    int games, warnings;
    Ended game[GAMES_MAX];
    char warning[1024]; // the last
    bool infos_right, measured_right;
    int lines[3][2]; // by kind and engine
    int first_words; // lines to the engine that begin a move
} Seen;

static Seen seen;

static void note_moves(const GameRecord *game) {
    for (int i = game->opening_plies; i < game->game.plies; i++) {
        const MoveRecord *made = &game->moves[i];
        seen.measured_right &= (made->cpu_us < 0) == (made->time_us < 5000) &&
                               (made->delay_us < 0) == (made->cpu_us < 0) &&
                               made->cpu_us <= made->time_us && made->delay_us <= made->time_us;
        seen.infos_right &= game->infos && made->info_size > 12 &&
                            strncmp(game->infos + made->info_at, "info depth 1", 12) == 0;
    }
}

static void on_game(void *ctx, const GameRecord *game) {
    (void)ctx;
    Ended *to = &seen.game[seen.games++];
    *to = (Ended){.kind = game->kind,
                  .result = game->result,
                  .white = game->white,
                  .culprit = game->culprit,
                  .plies = game->game.plies,
                  .overloaded = game->overloaded,
                  .lasted_us = game->lasted_us};
    snprintf(to->reason, sizeof to->reason, "%s", game->reason);
    for (int i = 0; i < 2 && game->fault_report; i++) {
        to->protocol_log[i] = xstrdup(game->fault_report->protocol_log[i]);
        to->errors[i] = xstrdup(game->fault_report->errors[i]);
    }
    note_moves(game);
}

static void on_warning(void *ctx, const GameRecord *game, const char *text) {
    (void)ctx;
    assert_true(game->culprit < 0);
    seen.warnings++;
    snprintf(seen.warning, sizeof seen.warning, "%s", text);
}

static void on_line(void *ctx, const MatchLine *line) {
    (void)ctx;
    seen.lines[line->kind][line->engine]++;
    seen.first_words += line->size > 9 && strncmp(line->text, "position ", 9) == 0;
    assert_int_equal(line->slot, 0);
    assert_true(line->time_us >= 0);
}

// One pair, A with `mode` against a B that behaves.
static MatchSpec spec_for(const char *const *mode) {
    static const char *argv[8] = {kit_toy};
    int count = 1;
    for (; mode && *mode; mode++)
        argv[count++] = *mode;
    argv[count] = NULL;
    for (int i = 0; i < seen.games; i++)
        for (int j = 0; j < 2; j++) {
            free(seen.game[i].protocol_log[j]);
            free(seen.game[i].errors[j]);
        }
    seen = (Seen){.infos_right = true, .measured_right = true};
    MatchSpec spec = kit_match(argv);
    spec.on_game = on_game;
    return spec;
}

#define MODE(...) ((const char *const[]){__VA_ARGS__, NULL})

// ---- fault reports ------------------------------------------------------------------------------

static void a_crash_leaves_the_last_words_of_both(void **state) {
    (void)state;
    MatchSpec spec = spec_for(MODE("abort@go", "2"));
    kit_play_match(&spec);
    for (int i = 0; i < 2; i++) {
        const Ended *game = &seen.game[i];
        assert_int_equal(game->culprit, 0);
        assert_int_equal(game->kind, GAME_END_CRASH);
        assert_string_equal(game->reason, i ? "Black disconnects" : "White disconnects");
        assert_non_null(strstr(game->protocol_log[0], " > position startpos moves e2e4 e7e5"));
        assert_non_null(strstr(game->protocol_log[0], " > go wtime "));
        assert_non_null(strstr(game->protocol_log[0], "< bestmove "));
        assert_non_null(strstr(game->protocol_log[0], "* the process ended: signal 6"));
        assert_non_null(strstr(game->protocol_log[0], game->reason));
        assert_non_null(strstr(game->protocol_log[1], " < bestmove "));
        assert_null(strstr(game->protocol_log[1], "process ended"));
    }
}

static void a_game_without_fault_leaves_none(void **state) {
    (void)state;
    MatchSpec spec = spec_for(NULL);
    kit_play_match(&spec);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(seen.game[i].culprit, -1);
        assert_null(seen.game[i].protocol_log[0]);
    }
    assert_false(seen.infos_right); // not asked for
}

static void the_end_of_standard_error_is_kept(void **state) {
    (void)state;
    static const char *const script[] = {
        "/bin/sh", "-c",
        "i=0; while [ $i -lt 3000 ]; do echo \"line $i\" >&2; i=$((i+1)); done;"
        "read l; echo uciok; read l; echo readyok; read l; read l; echo readyok;"
        "read l; read l; echo \"out of luck\" >&2; exit 3",
        NULL};
    MatchSpec spec = spec_for(NULL);
    kit_engines[0].argv = script;
    kit_play_match(&spec);
    const char *errors = seen.game[0].errors[0];
    assert_string_equal(seen.game[0].reason, "White disconnects");
    assert_int_equal(strlen(errors), 8 << 10);
    assert_non_null(strstr(errors, "line 2999\nout of luck\n"));
    assert_non_null(strstr(seen.game[0].protocol_log[0], "ended: exit status 3"));
    assert_string_equal(seen.game[0].errors[1], "");
}

// More than a pipe holds: a runner that does not read it stops the engine.
static void a_flood_on_standard_error_stops_nobody(void **state) {
    (void)state;
    MatchSpec spec = spec_for(MODE("errburst@go"));
    kit_play_match(&spec);
    for (int i = 0; i < 2; i++)
        assert_int_equal(seen.game[i].kind, GAME_END_ADJUDICATION);
}

static void endless_standard_error_ends_with_the_flag(void **state) {
    (void)state;
    MatchSpec spec = spec_for(MODE("errflood@go", "1"));
    kit_engines[0].limit = (MatchLimit){.move_ms = 200};
    kit_play_match(&spec);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(seen.game[i].kind, GAME_END_TIME);
        assert_in_range(seen.game[i].lasted_us, 200000, PATIENCE_US);
    }
}

// ---- lines --------------------------------------------------------------------------------------

static void the_last_line_of_each_move_is_kept_where_asked(void **state) {
    (void)state;
    MatchSpec spec = spec_for(NULL);
    spec.keep_info = true;
    kit_play_match(&spec);
    assert_true(seen.infos_right);
    assert_int_equal(seen.game[0].plies, 12);
}

static void every_line_of_a_conversation_is_logged(void **state) {
    (void)state;
    MatchSpec spec = spec_for(MODE("errburst@go"));
    spec.on_line = on_line;
    kit_play_match(&spec);
    assert_int_equal(seen.first_words, 20);
    for (int engine = 0; engine < 2; engine++) {
        // uci, isready; two games of ucinewgame, isready and five times position, go; quit
        assert_int_equal(seen.lines[LINE_TO_ENGINE][engine], 2 + 2 * 12 + 1);
        assert_in_range(seen.lines[LINE_FROM_ENGINE][engine], 20 + 4, 20 + 4 + 12);
    }
    assert_true(seen.lines[LINE_ERROR][0] > 0);
    assert_int_equal(seen.lines[LINE_ERROR][1], 0);
}

static void a_pv_that_cannot_be_right_is_a_warning(void **state) {
    (void)state;
    MatchSpec spec = spec_for(MODE("matescore"));
    spec.on_warning = on_warning;
    kit_play_match(&spec);
    assert_int_equal(seen.warnings, 0);
    spec = spec_for(MODE("matescore"));
    spec.on_warning = on_warning;
    spec.check_pvs = true;
    kit_play_match(&spec);
    assert_int_equal(seen.warnings, 10);
    assert_non_null(strstr(seen.warning, "Mate announced in 6 plies but the PV ends before it "
                                         "from A; info depth 1 score mate -3 nodes 20 pv "));
}

// ---- time ---------------------------------------------------------------------------------------

static void long_moves_are_measured_and_short_ones_are_not(void **state) {
    (void)state;
    static const EngineOption sleeps = {"Sleep", "20"};
    MatchSpec spec = spec_for(MODE("sleep"));
    kit_engines[0].options = &sleeps;
    kit_engines[0].option_count = 1;
    kit_play_match(&spec);
    assert_true(seen.measured_right);
    assert_true(seen.game[0].lasted_us > 5 * 20000);
}

static void an_idle_machine_is_not_to_blame_for_a_flag(void **state) {
    (void)state;
    MatchSpec spec = spec_for(MODE("hang@go", "1"));
    kit_engines[0].limit = (MatchLimit){.move_ms = 300};
    kit_play_match(&spec);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(seen.game[i].kind, GAME_END_TIME);
        assert_int_equal(seen.game[i].culprit, 0);
        assert_false(seen.game[i].overloaded);
        assert_in_range(seen.game[i].lasted_us, 300000, PATIENCE_US);
    }
    assert_string_equal(seen.game[0].reason, "White loses on time");
    assert_string_equal(seen.game[1].reason, "Black loses on time");
}

enum { RIVALS = 3 }; // a CPU

// The engine gets a quarter of its CPU at most; whether it would have answered is not known.
static void a_crowded_machine_is_told_of_where_a_flag_falls(void **state) {
    (void)state;
    OsCpus cpus;
    pid_t rivals[RIVALS * 64];
    Error err;
    int count = 0;
    os_cpus_allowed(&cpus);
    for (int i = 0; i < cpus.count && i < 64; i++)
        for (int j = 0; j < RIVALS; j++)
            if ((rivals[count++] = fork()) == 0) {
                (void)os_thread_pin(&cpus.ids[i], 1, &err);
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;)
                    ;
            }
    MatchSpec spec = spec_for(MODE("burn@go", "1"));
    spec.pin = true;
    kit_engines[0].limit = (MatchLimit){.move_ms = 600};
    kit_play_match(&spec);
    for (int i = 0; i < count; i++) {
        kill(rivals[i], SIGKILL);
        waitpid(rivals[i], NULL, 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(seen.game[i].kind, GAME_END_TIME);
        assert_true(seen.game[i].overloaded);
        assert_int_equal(seen.game[i].result, i ? RESULT_WHITE_WINS : RESULT_BLACK_WINS);
    }
}

int main(void) {
    if (!kit_toy_found())
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash_leaves_the_last_words_of_both),
        cmocka_unit_test(a_game_without_fault_leaves_none),
        cmocka_unit_test(the_end_of_standard_error_is_kept),
        cmocka_unit_test(a_flood_on_standard_error_stops_nobody),
        cmocka_unit_test(endless_standard_error_ends_with_the_flag),
        cmocka_unit_test(the_last_line_of_each_move_is_kept_where_asked),
        cmocka_unit_test(every_line_of_a_conversation_is_logged),
        cmocka_unit_test(a_pv_that_cannot_be_right_is_a_warning),
        cmocka_unit_test(long_moves_are_measured_and_short_ones_are_not),
        cmocka_unit_test(an_idle_machine_is_not_to_blame_for_a_flag),
        cmocka_unit_test(a_crowded_machine_is_told_of_where_a_flag_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
