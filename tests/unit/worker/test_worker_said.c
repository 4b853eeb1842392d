// What a batch tells of the things that engines said about their moves.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/rules/notation.h"
#include "server/common/str.h"
#include "worker/results/batch.h"

static void what_was_said_is_counted_for_the_engine_that_said_it(void **state) {
    (void)state;
    static const Opening opening = {POSITION_START_FEN, ""};
    const GameContext context = {&opening, 0, {{.nodes = 1}, {.nodes = 1}}};
    const BatchFacts facts = {"nodes=1", 812345, 0.02, NULL};
    GameRecord *games scope(free_ptr) = xcalloc(2, sizeof *games);
    for (int i = 0; i < 2; i++) {
        games[i].white = i;
        games[i].result = RESULT_DRAW;
        Refusal err;
        assert_true(position_from_fen(&games[i].game.start, opening.fen, false, &err));
    }
    games[0].said[0] = (Said){.moves = 40, .wrong[SAID_FALSE_MATE] = 3};
    games[1].said[0] = (Said){.moves = 30, .wrong[SAID_NO_SCORE] = 2};
    games[1].said[1] = (Said){.moves = 31, .wrong[SAID_ILLEGAL_PV] = 1};
    scope(batch_release) GameBatch batch;
    batch_init(&batch, 1, 0, 1);
    batch_add(&batch, games, &context);
    SpoolItem *item = batch_finish(&batch, &facts);
    json_auto_t *wanted = json_loads(
        "{\"new\": {\"moves\": 70, \"illegal_pv\": 0, \"other_move\": 0, \"false_mate\": 3, "
        "\"no_score\": 2}, \"base\": {\"moves\": 31, \"illegal_pv\": 1, \"other_move\": 0, "
        "\"false_mate\": 0, \"no_score\": 0}}",
        0, NULL);
    assert_true(json_equal(json_object_get(item->counts, "said"), wanted));
    spool_item_free(item);
}

int main(void) {
    rules_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_said_is_counted_for_the_engine_that_said_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
