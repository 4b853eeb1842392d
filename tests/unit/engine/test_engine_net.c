// The search with a net: what it asks is what the net says, at every node; and without a net
// nothing of this is there.
#include "tests/unit/engine/nnue_kit.h"

#include "engine/commands/bench_positions.h"
#include "engine/search/evaluator.h"
#include "engine/search/search.h"

static Network net;
static Search *search;

static int make_search(void **state) {
    (void)state;
    search = search_new(4, 1);
    network_fill_compact(&net, 8, 21, &usual_scale);
    return 0;
}

static int free_search(void **state) {
    (void)state;
    search_free(search);
    network_release(&net);
    return 0;
}

static SearchResult think(const char *fen, int depth) {
    Root root;
    Position pos = position_of(fen);
    root_init(&root, &pos);
    search_clear(search);
    search_prepare(search, &root, &(SearchLimits){.depth = depth});
    return search_run(search);
}

// A tree by the searcher's own moves, null moves among them.
static void wander(Searcher *s, int depth, uint64_t *seed) {
    MoveList list;
    Undo undo;
    if (net_random(seed, 0, 1))
        assert_int_equal(searcher_evaluate(s), position_evaluate(&s->pos, &net));
    movegen_legal(&s->pos, &list);
    for (int i = 0; depth > 0 && list.size > 0 && i < 2; i++) {
        Move move = list.moves[random_below(seed, list.size)];
        searcher_make(s, move, &undo);
        wander(s, depth - 1, seed);
        searcher_unmake(s, move, &undo);
    }
    if (depth > 0 && !s->pos.checkers) {
        searcher_make_null(s, &undo);
        wander(s, depth - 1, seed);
        searcher_unmake_null(s, &undo);
    }
}

static void the_search_asks_the_net_of_the_position_it_is_in(void **state) {
    (void)state;
    uint64_t seed = 8;
    search_set_network(search, &net);
    for (int i = 0; i < LIVELY_FENS; i++) {
        think(lively_fens[i], 3);
        Searcher *s = search->searchers[0];
        Position pos = position_of(lively_fens[i]);
        assert_int_equal(s->pos.key, pos.key); // all is taken back
        wander(s, 6, &seed);
    }
    search_set_network(search, NULL);
}

static void the_same_search_by_a_net_twice_is_the_same(void **state) {
    (void)state;
    search_set_network(search, &net);
    for (int i = 3; i < 6; i++) {
        SearchResult a = think(BENCH_POSITIONS[i], 7), b = think(BENCH_POSITIONS[i], 7);
        assert_int_equal(a.nodes, b.nodes);
        assert_int_equal(a.score, b.score);
        assert_int_equal(a.best, b.best);
    }
    search_set_network(search, NULL);
}

// Nodes and scores of a few searches as one number: two searches may be alike in one of them by
// chance, hardly in all.
static uint64_t fingerprint(void) {
    uint64_t sum = 0;
    for (int i = 3; i < 7; i++) {
        SearchResult result = think(BENCH_POSITIONS[i], 6);
        sum = random_mix(sum ^ result.nodes) + (uint64_t)(result.score + SCORE_INFINITE);
    }
    return sum;
}

static void a_net_taken_away_leaves_the_classical_evaluation(void **state) {
    (void)state;
    uint64_t before = fingerprint();
    search_set_network(search, &net);
    assert_true(fingerprint() != before);
    search_set_network(search, NULL);
    assert_true(fingerprint() == before);
}

static void threads_have_the_net_too(void **state) {
    (void)state;
    search_set_network(search, &net);
    search_set_threads(search, 3);
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(search->searchers[i]->accumulators->net, &net);
    search_set_network(search, NULL);
    for (int i = 0; i < 3; i++)
        assert_null(search->searchers[i]->accumulators);
    search_set_threads(search, 1);
}

static void a_mate_is_seen_whatever_the_net_says(void **state) {
    (void)state;
    search_set_network(search, &net);
    assert_int_equal(think("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", 6).score, SCORE_MATE - 1);
    search_set_network(search, NULL);
}

static void raw_output_becomes_centipawns_below_any_mate(void **state) {
    (void)state;
    assert_int_equal(evaluator_score(3328, 0), 100);
    assert_int_equal(evaluator_score(-3328, 0), -100);
    assert_int_equal(evaluator_score(33, 0), 0);
    assert_int_equal(evaluator_score(-33, 0), 0);
    assert_int_equal(evaluator_score(3328, 100), 50);
    assert_int_equal(evaluator_score(3328, 250), 50);
    assert_false(score_is_mate(evaluator_score(INT32_MAX, 0)));
    assert_false(score_is_mate(evaluator_score(INT32_MIN, 0)));
    assert_true(evaluator_score(INT32_MAX, 0) > 20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_search_asks_the_net_of_the_position_it_is_in),
        cmocka_unit_test(the_same_search_by_a_net_twice_is_the_same),
        cmocka_unit_test(a_net_taken_away_leaves_the_classical_evaluation),
        cmocka_unit_test(threads_have_the_net_too),
        cmocka_unit_test(a_mate_is_seen_whatever_the_net_says),
        cmocka_unit_test(raw_output_becomes_centipawns_below_any_mate),
    };
    return cmocka_run_group_tests(tests, make_search, free_search);
}
