// The engine's search as its users see it: mates, draws, limits, the same answer twice.

#include "tests/unit/rules/rules_kit.h"

#include <stdlib.h>

#include "engine/commands/bench_positions.h"
#include "engine/search/ordering.h"
#include "engine/search/search.h"

static Root root_of(const char *fen) {
    Root root;
    Position pos = position_of(fen);
    root_init(&root, &pos);
    return root;
}

static SearchResult think(const char *fen, SearchLimits limits) {
    Search *search = search_new(4, 1);
    Root root = root_of(fen);
    search_prepare(search, &root, &limits);
    SearchResult result = search_run(search);
    search_free(search);
    return result;
}

static void mates_are_found_at_their_distance(void **state) {
    (void)state;
    static const struct {
        const char *fen;
        Score score;
    } mates[] = {
        {"6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", SCORE_MATE - 1},
        {"r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", SCORE_MATE - 1},
        {"k7/8/2K5/8/8/8/8/7R w - - 0 1", SCORE_MATE - 3},
        {"k7/8/1K6/8/8/8/8/7R b - - 0 1", -SCORE_MATE + 2},
        {"7k/8/6K1/8/8/8/Q7/8 w - - 0 1", SCORE_MATE - 1},
        {"8/8/8/8/8/4k3/6q1/4K3 w - - 0 1", -SCORE_MATE + 2},
    };
    for (size_t i = 0; i < sizeof mates / sizeof *mates; i++) {
        SearchResult result = think(mates[i].fen, (SearchLimits){.depth = 8});
        if (result.score != mates[i].score)
            fail_msg("%s: %d", mates[i].fen, result.score);
    }
}

static void forced_mates_in_one_to_five_are_found(void **state) {
    (void)state;
    static const struct {
        int moves; // at most
        const char *fen;
    } mates[] = {
        {1, "6rk/6pp/8/6N1/8/8/8/6K1 w - - 0 1"},
        {1, "rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2"},
        {2, "5r1k/6pp/7N/8/2Q5/8/8/6K1 w - - 0 1"},
        {2, "4k3/8/8/8/8/8/RR6/4K3 w - - 0 1"},
        {2, "7k/8/8/5K2/8/8/8/R7 w - - 0 1"},
        {2, "r2qkb1r/pp2nppp/3p4/2pNN1B1/2BnP3/3P4/PPP2PPP/R2bK2R w KQkq - 1 10"},
        {3, "6k1/8/8/5K2/8/8/8/R7 w - - 0 1"},
        {3, "3k4/8/8/8/8/8/RR6/4K3 w - - 0 1"},
        {3, "4k3/8/8/3K4/8/8/8/7Q w - - 0 1"},
        {4, "r6k/6pp/8/6N1/2Q5/8/8/6K1 w - - 0 1"}, // a smothered mate behind a queen's sacrifice
        {5, "8/3k4/8/8/8/8/RR6/4K3 w - - 0 1"},
        {5, "6k1/8/8/8/4K3/8/8/Q7 w - - 0 1"},
        {5, "k1n5/8/1K6/8/8/8/8/3R4 w - - 0 1"},
    };
    for (size_t i = 0; i < sizeof mates / sizeof *mates; i++) {
        SearchResult result =
            think(mates[i].fen, (SearchLimits){.mate = mates[i].moves, .nodes = 2000000});
        if (result.score < score_mate_in(2 * mates[i].moves - 1))
            fail_msg("%s: %d after %d plies", mates[i].fen, result.score, result.depth);
    }
}

static void a_mate_limit_ends_the_search_at_the_mate(void **state) {
    (void)state;
    SearchResult result =
        think("k7/8/2K5/8/8/8/8/7R w - - 0 1", (SearchLimits){.mate = 2, .depth = 60});
    assert_int_equal(result.score, score_mate_in(3));
    assert_true(result.depth < 60);
}

static void without_a_legal_move_there_is_no_best_move(void **state) {
    (void)state;
    assert_int_equal(think("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", (SearchLimits){.depth = 3}).best,
                     MOVE_NONE);
    assert_int_equal(think("R6k/8/6K1/8/8/8/8/8 b - - 0 1", (SearchLimits){.depth = 3}).best,
                     MOVE_NONE);
}

static void a_pawn_that_can_only_stalemate_is_worth_nothing(void **state) {
    (void)state;
    assert_int_equal(think("7k/7P/8/6K1/8/8/8/8 w - - 0 1", (SearchLimits){.depth = 12}).score, 0);
}

static void the_same_search_twice_is_the_same(void **state) {
    (void)state;
    for (int i = 5; i < 9; i++) {
        SearchResult a = think(BENCH_POSITIONS[i], (SearchLimits){.depth = 7});
        SearchResult b = think(BENCH_POSITIONS[i], (SearchLimits){.depth = 7});
        assert_int_equal(a.nodes, b.nodes);
        assert_int_equal(a.best, b.best);
        assert_int_equal(a.score, b.score);
    }
}

static void clearing_forgets_everything(void **state) {
    (void)state;
    Search *search = search_new(4, 1);
    uint64_t nodes[2];
    for (int i = 0; i < 2; i++) {
        search_clear(search);
        Root other = root_of(BENCH_POSITIONS[3]), root = root_of(BENCH_POSITIONS[12]);
        SearchLimits limits = {.depth = 6};
        if (i == 1) {
            search_prepare(search, &other, &limits);
            search_run(search);
            search_clear(search);
        }
        search_prepare(search, &root, &limits);
        nodes[i] = search_run(search).nodes;
    }
    search_free(search);
    assert_int_equal(nodes[0], nodes[1]);
}

static void a_node_limit_is_kept_to_the_node(void **state) {
    (void)state;
    for (uint64_t nodes = 12345; nodes < 12500; nodes++) {
        SearchResult result = think(BENCH_POSITIONS[4], (SearchLimits){.nodes = nodes});
        assert_int_equal(result.nodes, nodes);
        assert_int_not_equal(result.best, MOVE_NONE);
    }
}

static void one_node_still_gives_a_legal_move_and_a_score(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof BENCH_POSITIONS / sizeof *BENCH_POSITIONS; i++) {
        Position pos = position_of(BENCH_POSITIONS[i]);
        SearchResult result = think(BENCH_POSITIONS[i], (SearchLimits){.nodes = 1});
        assert_true(move_is_legal(&pos, result.best));
        assert_in_range(result.score + SCORE_MATE, 0, 2 * SCORE_MATE);
    }
}

static void only_the_moves_asked_for_are_considered(void **state) {
    (void)state;
    Position pos = position_of(POSITION_START_FEN);
    SearchLimits limits = {.depth = 5};
    movegen_legal(&pos, &limits.search_moves);
    Move wanted = limits.search_moves.moves[3];
    limits.search_moves = (MoveList){.size = 1, .moves = {wanted}};
    assert_int_equal(think(POSITION_START_FEN, limits).best, wanted);
}

// Plays the king's dance from and to the same squares, `times` times.
static Root danced(const char *fen, int times) {
    Root root = root_of(fen);
    const Move dance[] = {move_make(62, 63), move_make(4, 12), move_make(63, 62), move_make(12, 4)};
    for (int i = 0; i < 4 * times; i++) {
        assert_true(move_is_legal(&root.pos, dance[i % 4]));
        root_play(&root, dance[i % 4]);
    }
    return root;
}

static void the_third_occurrence_of_a_position_is_a_draw(void **state) {
    (void)state;
    // A queen down, but with the position on the board twice before, the dance may be ended.
    const char *fen = "6k1/8/8/8/8/8/8/3QK3 b - - 0 1";
    Searcher *s = calloc(1, sizeof *s);
    for (int times = 0; times < 3; times++) {
        Root root = danced(fen, times);
        assert_int_equal(root.key_count, 4 * times);
        s->pos = root.pos;
        s->key_count = root.key_count;
        memcpy(s->keys, root.keys, sizeof root.keys);
        assert_true(searcher_is_draw(s) == (times == 2));
    }
    free(s);
}

static void the_keys_of_pieces_follow_every_move(void **state) {
    (void)state;
    Searcher *s = calloc(1, sizeof *s);
    Search *search = search_new(1, 1);
    s->shared = search;
    uint64_t seed = 20240602;
    for (int i = 0; i < LIVELY_FENS; i++) {
        s->pos = position_of(lively_fens[i]);
        s->ply = s->key_count = 0;
        piece_keys_of(&s->pos, searcher_frame(s)->piece_keys);
        for (MoveList list; s->ply < PLY_MAX - 1;) {
            movegen_legal(&s->pos, &list);
            if (list.size == 0)
                break;
            Undo undo;
            Key keys[COLOR_NB];
            searcher_make(s, list.moves[random_word(&seed) % (unsigned)list.size], &undo);
            piece_keys_of(&s->pos, keys);
            assert_memory_equal(searcher_frame(s)->piece_keys, keys, sizeof keys);
        }
    }
    search_free(search);
    free(s);
}

static void an_irreversible_move_empties_the_history(void **state) {
    (void)state;
    Root root = root_of(POSITION_START_FEN);
    root_play(&root, move_make(6, 21));
    root_play(&root, move_make(62, 45));
    assert_int_equal(root.key_count, 2);
    root_play(&root, move_make(12, 28));
    assert_int_equal(root.key_count, 0);
}

static void bare_kings_and_a_lone_minor_are_drawn(void **state) {
    (void)state;
    assert_int_equal(think("8/8/4k3/8/8/3K4/8/8 w - - 0 1", (SearchLimits){.depth = 6}).score, 0);
    assert_int_equal(think("8/8/4k3/8/8/3KN3/8/8 w - - 0 1", (SearchLimits){.depth = 6}).score, 0);
}

static void fifty_moves_draw_a_won_position(void **state) {
    (void)state;
    SearchResult result = think("8/8/4k3/8/8/3K4/8/5Q2 w - - 99 80", (SearchLimits){.depth = 6});
    assert_int_equal(result.score, 0);
}

static void threads_help_without_harm(void **state) {
    (void)state;
    Search *search = search_new(4, 3);
    for (int i = 0; i < 6; i++) {
        Root root = root_of(BENCH_POSITIONS[i * 5]);
        SearchLimits limits = {.depth = 7};
        search_prepare(search, &root, &limits);
        SearchResult result = search_run(search);
        assert_true(move_is_legal(&root.pos, result.best));
        search_set_threads(search, 2 + i % 3);
    }
    search_free(search);
}

// ---- reports ------------------------------------------------------------------------------------

typedef struct Lines {
    int count;
    Move first[64];
    int number[64];
} Lines;

static void take_line(void *context, const Root *root, const SearchInfo *info) {
    Lines *lines = context;
    Position pos = root->pos;
    for (int i = 0; i < info->pv_length; i++) {
        Undo undo;
        assert_true(move_is_legal(&pos, info->pv[i]));
        position_make(&pos, info->pv[i], &undo);
    }
    lines->first[lines->count % 64] = info->pv[0];
    lines->number[lines->count++ % 64] = info->multi_pv;
}

static void several_lines_begin_with_different_moves(void **state) {
    (void)state;
    Lines lines = {0};
    Search *search = search_new(4, 1);
    search_on_report(search, take_line, &lines);
    Root root = root_of(BENCH_POSITIONS[10]);
    SearchLimits limits = {.depth = 5, .multi_pv = 4};
    search_prepare(search, &root, &limits);
    search_run(search);
    search_free(search);
    assert_int_equal(lines.count, 20);
    for (int i = 16; i < 20; i++) {
        assert_int_equal(lines.number[i], i - 15);
        for (int j = 16; j < i; j++)
            assert_int_not_equal(lines.first[i], lines.first[j]);
    }
}

// ---- the picker ---------------------------------------------------------------------------------

static Searcher *picking;

static void check_picker(Position *pos) {
    Searcher *s = picking;
    s->pos = *pos;
    MoveList legal;
    movegen_legal(pos, &legal);
    bool seen[MOVES_MAX] = {false};
    int picked = 0;
    MovePicker picker;
    // Killers, a counter move and a table move that may or may not be possible here.
    searcher_frame(s)->killers[0] = legal.size > 3 ? legal.moves[legal.size - 1] : 1234;
    searcher_frame(s)->killers[1] = legal.size > 4 ? legal.moves[legal.size / 2] : 2345;
    Frame *before = searcher_frame(s) - 1;
    before->piece = 0;
    before->move = move_make(8, 16);
    s->history.counter[0][16] = legal.size > 5 ? legal.moves[legal.size / 3] : 3456;
    picker_init(&picker, s, legal.size > 1 ? legal.moves[1] : 4321);
    for (Move move; (move = picker_next(&picker)) != MOVE_NONE; picked++) {
        int at = 0;
        while (at < legal.size && legal.moves[at] != move)
            at++;
        assert_true(at < legal.size);
        assert_false(seen[at]);
        seen[at] = true;
    }
    assert_int_equal(picked, legal.size);
}

static void the_picker_gives_every_legal_move_once(void **state) {
    (void)state;
    rules_init();
    picking = calloc(1, sizeof *picking);
    for (int i = 0; i < STACK_BELOW; i++) {
        picking->stack[i].piece = NO_PIECE;
        picking->stack[i].replies = &picking->history.replies[NO_PIECE][0];
    }
    random_walks(300, check_picker);
    free(picking);
}

int main(void) {
    rules_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mates_are_found_at_their_distance),
        cmocka_unit_test(forced_mates_in_one_to_five_are_found),
        cmocka_unit_test(a_mate_limit_ends_the_search_at_the_mate),
        cmocka_unit_test(without_a_legal_move_there_is_no_best_move),
        cmocka_unit_test(a_pawn_that_can_only_stalemate_is_worth_nothing),
        cmocka_unit_test(the_same_search_twice_is_the_same),
        cmocka_unit_test(clearing_forgets_everything),
        cmocka_unit_test(a_node_limit_is_kept_to_the_node),
        cmocka_unit_test(one_node_still_gives_a_legal_move_and_a_score),
        cmocka_unit_test(only_the_moves_asked_for_are_considered),
        cmocka_unit_test(the_third_occurrence_of_a_position_is_a_draw),
        cmocka_unit_test(the_keys_of_pieces_follow_every_move),
        cmocka_unit_test(an_irreversible_move_empties_the_history),
        cmocka_unit_test(bare_kings_and_a_lone_minor_are_drawn),
        cmocka_unit_test(fifty_moves_draw_a_won_position),
        cmocka_unit_test(threads_help_without_harm),
        cmocka_unit_test(several_lines_begin_with_different_moves),
        cmocka_unit_test(the_picker_gives_every_legal_move_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
