// Strays of the trainer: which children of a position they are, and what they are said to be worth.

#include "rules_kit.h"

#include <stdlib.h>

#include "../../engine/eval.h"
#include "../../engine/learn/train_stray.h"
#include "../../engine/rules/movegen.h"

static bool is_a_child(const Position *pos, const TrainPosition *stray) {
    PawnCache *pawns = calloc(1, sizeof *pawns);
    pawn_cache_clear(pawns);
    MoveList list;
    bool found = false;
    movegen_legal(pos, &list);
    for (int i = 0; i < list.size; i++) {
        Position child = *pos;
        Undo undo;
        TrainPosition packed;
        position_make(&child, list.moves[i], &undo);
        child.rule50 = 0;
        Score score = evaluate(&child, pawns);
        train_position_pack(&child, child.side == WHITE ? score : -score, 0, &packed);
        packed.result = TRAIN_RESULT_NONE;
        found |= memcmp(&packed, stray, sizeof packed) == 0;
    }
    free(pawns);
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
    PawnCache *pawns = calloc(1, sizeof *pawns);
    pawn_cache_clear(pawns);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Position pos = position_of(rows[i].fen);
        TrainPosition strays[TRAIN_STRAYS_MAX];
        int count = train_strays(&pos, TRAIN_STRAYS_MAX, &random, pawns, strays);
        assert_int_equal(count, rows[i].quiet);
        for (int s = 0; s < count; s++)
            assert_true(is_a_child(&pos, &strays[s]));
    }
    free(pawns);
}

int main(void) {
    rules_init();
    eval_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strays_are_quiet_children_with_the_classical_score),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
