// When games are ended early (server/common/adjudicate.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "server/common/adjudicate.h"
#include "worker/uci/engine_spec.h"

typedef struct Step {
    int score;
    int rule50;
    int fullmove;
} Step;

// Plays scores of alternating sides from White's first; returns how many plies it took to a
// verdict.
static int plies_to(Adjudication rules, const Step *steps, int count, Decision wanted) {
    Adjudicator a = {.rules = &rules};
    for (int i = 0; i < count; i++) {
        AdjudicatedMove move = {.by_white = i % 2 == 0,
                                .resets = steps[i].rule50 == 0,
                                .has_score = steps[i].score != UCI_SCORE_NONE,
                                .mates = uci_score_is_mate(steps[i].score),
                                .score = steps[i].score,
                                .number = steps[i].fullmove - 1,
                                .plies = i + 1};
        Decision verdict = adjudicate(&a, &move);
        if (verdict != DECISION_NONE) {
            assert_int_equal(verdict, wanted);
            return i + 1;
        }
    }
    return 0;
}

static const Adjudication draw_rules = {.draw_move = 34, .draw_count = 2, .draw_score = 20};
static const Adjudication resign_rules = {.resign_count = 2, .resign_score = 600};

static void level_scores_of_both_sides_end_in_a_draw(void **state) {
    (void)state;
    const Step steps[] = {{20, 5, 40}, {-20, 6, 40}, {0, 7, 41}, {1, 8, 41}};
    assert_int_equal(plies_to(draw_rules, steps, 4, DECISION_DRAW), 4);
}

static void a_capture_starts_the_count_anew_and_counts_itself(void **state) {
    (void)state;
    const Step steps[] = {{0, 5, 40}, {0, 6, 40}, {0, 0, 41}, {0, 1, 41}, {0, 2, 42}, {0, 3, 42}};
    assert_int_equal(plies_to(draw_rules, steps, 6, DECISION_DRAW), 6);
}

static void a_draw_waits_for_its_move_number(void **state) {
    (void)state;
    // The board shows move 35 once Black has made the 34th.
    const Step steps[] = {{0, 1, 32}, {0, 2, 33}, {0, 3, 33}, {0, 4, 34}, {0, 5, 34}, {0, 6, 35}};
    assert_int_equal(plies_to(draw_rules, steps, 6, DECISION_DRAW), 6);
}

static void mates_and_missing_scores_are_not_level(void **state) {
    (void)state;
    const Step mate[] = {
        {0, 5, 40}, {0, 6, 40}, {0, 7, 41}, {UCI_SCORE_MATE - 9, 8, 41}, {0, 9, 42}};
    const Step none[] = {{0, 5, 40}, {0, 6, 40}, {0, 7, 41}, {UCI_SCORE_NONE, 8, 41}, {0, 9, 42}};
    assert_int_equal(plies_to(draw_rules, mate, 5, DECISION_DRAW), 0);
    assert_int_equal(plies_to(draw_rules, none, 5, DECISION_DRAW), 0);
}

static void the_side_that_sees_itself_lost_resigns(void **state) {
    (void)state;
    const Step white[] = {{-600, 1, 2}, {0, 1, 3}, {-601, 1, 3}};
    const Step black[] = {{0, 1, 2}, {-600, 1, 3}, {0, 1, 3}, {-600, 1, 4}};
    assert_int_equal(plies_to(resign_rules, white, 3, DECISION_RESIGNS), 3);
    assert_int_equal(plies_to(resign_rules, black, 4, DECISION_RESIGNS), 4);
}

static void being_mated_counts_for_resignation(void **state) {
    (void)state;
    const Step steps[] = {{4 - UCI_SCORE_MATE, 1, 2}, {0, 1, 3}, {2 - UCI_SCORE_MATE, 1, 3}};
    assert_int_equal(plies_to(resign_rules, steps, 3, DECISION_RESIGNS), 3);
}

static void bad_scores_must_come_in_a_row(void **state) {
    (void)state;
    const Step better[] = {{-600, 1, 2}, {0, 1, 3}, {-599, 1, 3}, {0, 1, 4}, {-600, 1, 4}};
    const Step none[] = {{-600, 1, 2}, {UCI_SCORE_NONE, 1, 3}, {-600, 1, 3}, {0, 1, 4}};
    assert_int_equal(plies_to(resign_rules, better, 5, DECISION_RESIGNS), 0);
    assert_int_equal(plies_to(resign_rules, none, 4, DECISION_RESIGNS), 0);
}

static void two_sided_resignation_needs_both(void **state) {
    (void)state;
    Adjudication rules = resign_rules;
    rules.resign_two_sided = true;
    const Step one[] = {{-900, 1, 2}, {599, 1, 3}, {-900, 1, 3}, {599, 1, 4}, {-900, 1, 5}};
    const Step both[] = {{-600, 1, 2}, {600, 1, 3}, {-600, 1, 3}, {600, 1, 4}, {-600, 1, 5}};
    assert_int_equal(plies_to(rules, one, 5, DECISION_RESIGNS), 0);
    // After four plies both agree, but it is for the losing side to resign, with its own move.
    assert_int_equal(plies_to(rules, both, 5, DECISION_RESIGNS), 5);
}

static void length_alone_ends_a_game_even_without_scores(void **state) {
    (void)state;
    const Step steps[] = {{UCI_SCORE_NONE, 1, 2}, {900, 1, 3}, {0, 0, 3}, {UCI_SCORE_NONE, 1, 4}};
    assert_int_equal(plies_to((Adjudication){.max_moves = 2}, steps, 4, DECISION_TOO_LONG), 4);
}

static void nothing_is_adjudicated_without_rules(void **state) {
    (void)state;
    const Step steps[] = {{-9000, 1, 99}, {0, 2, 99}, {-9000, 3, 99}, {0, 4, 99}, {-9000, 5, 99}};
    assert_int_equal(plies_to((Adjudication){0}, steps, 5, DECISION_NONE), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(level_scores_of_both_sides_end_in_a_draw),
        cmocka_unit_test(a_capture_starts_the_count_anew_and_counts_itself),
        cmocka_unit_test(a_draw_waits_for_its_move_number),
        cmocka_unit_test(mates_and_missing_scores_are_not_level),
        cmocka_unit_test(the_side_that_sees_itself_lost_resigns),
        cmocka_unit_test(being_mated_counts_for_resignation),
        cmocka_unit_test(bad_scores_must_come_in_a_row),
        cmocka_unit_test(two_sided_resignation_needs_both),
        cmocka_unit_test(length_alone_ends_a_game_even_without_scores),
        cmocka_unit_test(nothing_is_adjudicated_without_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
