// How long the engine is to think: what `go` says, and what the timer makes of a clock.

#include "tests/unit/rules/rules_kit.h"

#include "engine/search/timer.h"
#include "engine/uci/go.h"

// ---- time ---------------------------------------------------------------------------------------

static Timer timer_for(int64_t time_ms, int64_t increment_ms, int moves_to_go) {
    Timer timer;
    ClockState clock = {time_ms * 1000, increment_ms * 1000, 10000, moves_to_go};
    timer_set_clock(&timer, 0, &clock);
    return timer;
}

static void no_plan_uses_what_the_overhead_may_eat(void **state) {
    (void)state;
    for (int64_t time_ms = 20; time_ms < 1000000; time_ms += 1 + time_ms / 7)
        for (int moves = 0; moves < 60; moves++)
            for (int64_t increment_ms = 0; increment_ms <= 10000; increment_ms += 500) {
                Timer timer = timer_for(time_ms, increment_ms, moves);
                assert_true(timer.hard_us <= (time_ms - 10) * 1000);
                assert_true(timer.hard_us > 0);
                assert_true(timer.soft_us <= timer.hard_us);
            }
}

static void next_to_no_time_gets_next_to_no_thought(void **state) {
    (void)state;
    for (int64_t time_ms = -50; time_ms < 12; time_ms++) {
        Timer timer = timer_for(time_ms, 0, 0);
        assert_true(timer.hard_us >= 1);
        assert_true(timer.hard_us <= 1000);
    }
}

static void a_game_on_the_increment_never_drains_the_clock(void **state) {
    (void)state;
    // Each move takes all it may, and a millisecond is lost on the way.
    int64_t left_us = 1000000;
    for (int move = 0; move < 400; move++) {
        Timer timer;
        ClockState clock = {left_us, 10000, 10000, 0};
        timer_set_clock(&timer, 0, &clock);
        left_us -= timer.hard_us + 1000;
        assert_true(left_us > 5000);
        left_us += 10000;
    }
}

static void all_moves_of_a_period_are_made_in_it(void **state) {
    (void)state;
    int64_t left_us = 400000;
    for (int moves = 40; moves > 0; moves--) {
        Timer timer;
        ClockState clock = {left_us, 0, 10000, moves};
        timer_set_clock(&timer, 0, &clock);
        left_us -= timer.hard_us + 50;
        assert_true(left_us > 0);
    }
}

static void a_move_time_keeps_the_overhead_back(void **state) {
    (void)state;
    Timer timer;
    timer_set_move_time(&timer, 0, 100000, 10000);
    assert_int_equal(timer.hard_us, 90000);
    timer_set_move_time(&timer, 0, 5000, 10000);
    assert_int_equal(timer.hard_us, 2500);
}

// ---- go -----------------------------------------------------------------------------------------

static void go_is_read_in_all_its_forms(void **state) {
    (void)state;
    Position pos = position_of(POSITION_START_FEN);
    const char *bad;
    SearchLimits l = {0};
    assert_true(uci_parse_go("wtime 1000 btime -5 winc 10 binc 20 movestogo 7", &pos, &l, &bad));
    assert_true(l.has_clock);
    assert_int_equal(l.time_ms[WHITE], 1000);
    assert_int_equal(l.time_ms[BLACK], -5);
    assert_int_equal(l.increment_ms[BLACK], 20);
    assert_int_equal(l.moves_to_go, 7);
    l = (SearchLimits){0};
    assert_true(
        uci_parse_go(" depth 9 nodes 5000 mate 3 movetime 70 infinite ponder", &pos, &l, &bad));
    assert_int_equal(l.depth, 9);
    assert_int_equal(l.nodes, 5000);
    assert_int_equal(l.mate, 3);
    assert_int_equal(l.move_time_ms, 70);
    assert_true(l.infinite && l.ponder);
    l = (SearchLimits){0};
    assert_true(uci_parse_go("searchmoves e2e4 d2d4 e2e4 depth 4", &pos, &l, &bad));
    assert_int_equal(l.search_moves.size, 2);
    assert_int_equal(l.depth, 4);
}

static void go_names_the_word_it_cannot_read(void **state) {
    (void)state;
    Position pos = position_of(POSITION_START_FEN);
    const char *bad;
    static const char *const lines[] = {
        "depth",   "depth x",          "depth -1",     "nodes 99999999999999999999",
        "swiftly", "searchmoves e2e5", "movestogo 1e9"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        SearchLimits l = {0};
        bad = NULL;
        assert_false(uci_parse_go(lines[i], &pos, &l, &bad));
        assert_true(bad >= lines[i] && bad < lines[i] + strlen(lines[i]));
    }
}

int main(void) {
    rules_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_plan_uses_what_the_overhead_may_eat),
        cmocka_unit_test(next_to_no_time_gets_next_to_no_thought),
        cmocka_unit_test(a_game_on_the_increment_never_drains_the_clock),
        cmocka_unit_test(all_moves_of_a_period_are_made_in_it),
        cmocka_unit_test(a_move_time_keeps_the_overhead_back),
        cmocka_unit_test(go_is_read_in_all_its_forms),
        cmocka_unit_test(go_names_the_word_it_cannot_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
