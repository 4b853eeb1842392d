// Strays of the trainer: which children of a position they are, and what they are said to be worth.

#include "nnue_kit.h"

#include <stdlib.h>

#include "../../engine/eval.h"
#include "../../engine/evaluator.h"
#include "../../engine/learn/train_stray.h"
#include "../../engine/rules/movegen.h"

static PawnCache pawns;
static Network net;

static bool is_a_child(const Position *pos, const TrainPosition *stray, const Network *teacher) {
    MoveList list;
    bool found = false;
    movegen_legal(pos, &list);
    for (int i = 0; i < list.size; i++) {
        Position child = *pos;
        Undo undo;
        TrainPosition packed;
        position_make(&child, list.moves[i], &undo);
        child.rule50 = 0;
        Score score = evaluate(&child, &pawns);
        if (teacher)
            score = (score + position_evaluate(&child, teacher)) / 2;
        train_position_pack(&child, child.side == WHITE ? score : -score, 0, &packed);
        packed.result = TRAIN_RESULT_NONE;
        found |= memcmp(&packed, stray, sizeof packed) == 0;
    }
    return found;
}

static void strays_are_quiet_children_with_the_classical_score(void **state) {
    (void)state;
    static const struct {
        const char *fen;
        int quiet; // of the children
    } rows[] = {
        {"4k3/8/8/8/8/8/4P3/4K3 w - - 90 20", 6},
        {"4k3/ppp5/8/3p4/8/1N6/PPP5/4K3 w - - 0 20", 14}, // not c2-c4, which loses the pawn
        {"4k3/3p4/8/8/8/8/5QQ1/RR2K3 b - - 0 20", 0},     // decided
        {"7k/5Q2/8/8/8/8/8/K7 b - - 0 20", 0},            // stalemate
    };
    uint64_t random = 5;
    const TrainTeacher teacher = {&pawns, NULL};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Position pos = position_of(rows[i].fen);
        TrainPosition strays[TRAIN_STRAYS_MAX];
        int count = train_strays(&pos, TRAIN_STRAYS_MAX, &random, &teacher, strays);
        assert_int_equal(count, rows[i].quiet);
        for (int s = 0; s < count; s++)
            assert_true(is_a_child(&pos, &strays[s], NULL));
    }
}

static void a_net_and_the_classical_evaluation_judge_in_halves(void **state) {
    (void)state;
    uint64_t random = 5;
    const TrainTeacher teacher = {&pawns, &net};
    int judged = 0, unlike = 0;
    for (int i = 0; i < LIVELY_FENS; i++) {
        Position pos = position_of(lively_fens[i]);
        TrainPosition strays[TRAIN_STRAYS_MAX];
        int count = train_strays(&pos, TRAIN_STRAYS_MAX, &random, &teacher, strays);
        for (int s = 0; s < count; s++) {
            assert_true(is_a_child(&pos, &strays[s], &net));
            unlike += !is_a_child(&pos, &strays[s], NULL);
        }
        judged += count;
    }
    assert_true(judged > 20 && unlike > judged / 2);
}

int main(void) {
    rules_init();
    eval_init();
    pawn_cache_clear(&pawns);
    network_fill_compact(&net, 4, 3, &usual_scale);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strays_are_quiet_children_with_the_classical_score),
        cmocka_unit_test(a_net_and_the_classical_evaluation_judge_in_halves),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    network_release(&net);
    return failed;
}
