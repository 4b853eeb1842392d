// The classical evaluation taken apart and learned anew: its traces, the tuner, and the file of
// values that the tuner prints.

#include "tests/unit/rules/rules_kit.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/commands/bench_positions.h"
#include "engine/eval/eval.h"
#include "engine/learn/tune.h"

static PawnCache *cache;

// ---- traces -------------------------------------------------------------------------------------

static void check_trace(Position *pos) {
    EvalTrace trace;
    Score score = evaluate(pos, cache);
    assert_int_equal(eval_trace(pos, &trace), score);
    assert_int_equal(eval_trace_score(&trace, &EVAL), score);
}

static void the_trace_adds_up_to_the_evaluation(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof BENCH_POSITIONS / sizeof *BENCH_POSITIONS; i++) {
        Position pos = position_of(BENCH_POSITIONS[i]);
        check_trace(&pos);
    }
    random_walks(400, check_trace);
}

static void the_table_has_a_row_for_every_value(void **state) {
    (void)state;
    int count = 0;
    for (int row = 0; row < EVAL_ROW_COUNT; row++)
        count += EVAL_ROWS[row].count;
    assert_int_equal(count, EVAL_COUNT);
}

// ---- positions to learn from --------------------------------------------------------------------

static TuneData data;
static TuneWeights truth;

// What the true values say of a position is the result that its game had.
static void add_position(Position *pos) {
    TuneSet *set = pos->key % 10 ? &data.training : &data.validation;
    EvalTrace trace;
    eval_trace(pos, &trace);
    if (trace.is_known)
        return;
    tune_set_add(set, &trace, 0);
    TunePosition *last = &set->positions[set->count - 1];
    double score = tune_score(set, last, &truth);
    last->result = (float)(1 / (1 + exp(-score / 200)));
}
static const double K_OF_RESULTS = 2 / 2.302585093; // 10^(k / 400) is e^(1 / 200)

// Random moves from positions of games.
static void data_init(void) {
    tune_weights_init(&truth, &EVAL);
    uint64_t seed = 20240601;
    for (size_t i = 0; i < sizeof BENCH_POSITIONS / sizeof *BENCH_POSITIONS; i++) {
        Position pos = position_of(BENCH_POSITIONS[i]);
        MoveList list;
        for (int ply = 0; ply < 100; ply++) {
            Undo undo;
            add_position(&pos);
            movegen_legal(&pos, &list);
            if (list.size == 0)
                break;
            position_make(&pos, list.moves[random_word(&seed) % (unsigned)list.size], &undo);
        }
    }
}

static void a_score_in_real_numbers_is_that_of_the_evaluation(void **state) {
    (void)state;
    Position pos = position_of(BENCH_POSITIONS[0]);
    TuneSet set = {0};
    for (size_t i = 0; i < sizeof BENCH_POSITIONS / sizeof *BENCH_POSITIONS; i++) {
        EvalTrace trace;
        pos = position_of(BENCH_POSITIONS[i]);
        int score = eval_trace(&pos, &trace) * (pos.side == WHITE ? 1 : -1);
        if (trace.is_known)
            continue;
        tune_set_add(&set, &trace, 0.5);
        // Whole numbers round a few times on the way.
        assert_true(fabs(tune_score(&set, &set.positions[set.count - 1], &truth) - score) < 4);
    }
    tune_set_release(&set);
}

static void the_steepness_of_the_results_is_found(void **state) {
    (void)state;
    double k = tune_fit_k(&data.training, &truth, 2);
    assert_true(fabs(k - K_OF_RESULTS) < 0.01);
}

// ---- learning -----------------------------------------------------------------------------------

static void learn(TuneWeights *weights, int epochs, int threads) {
    TunePlan plan = {.epochs = epochs, .threads = threads, .k = K_OF_RESULTS};
    tune_learn(&data, &plan, weights);
}

static int index_of(const int32_t *value) {
    return (int)(value - (const int32_t *)&EVAL);
}

static double score_of_fen(const char *fen, const TuneWeights *weights) {
    Position pos = position_of(fen);
    EvalTrace trace;
    TuneSet set = {0};
    eval_trace(&pos, &trace);
    tune_set_add(&set, &trace, 0);
    double score = tune_score(&set, &set.positions[0], weights);
    tune_set_release(&set);
    return score;
}

static void what_a_knight_is_worth_is_found_again(void **state) {
    (void)state;
    const char *fen = "r1bqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    TuneWeights weights = truth;
    int knight = index_of(&EVAL.material[KNIGHT]);
    weights.mg[knight] -= 100;
    weights.eg[knight] -= 100;
    assert_true(score_of_fen(fen, &truth) - score_of_fen(fen, &weights) > 90);
    learn(&weights, 400, 2);
    assert_true(fabs(score_of_fen(fen, &truth) - score_of_fen(fen, &weights)) < 25);
}

static void values_of_every_kind_are_learned(void **state) {
    (void)state;
    const struct {
        const int32_t *value;
        double shift;
    } cases[] = {
        {&EVAL.bishop_pair, 40},         {&EVAL.passed[5], -50},          {&EVAL.tempo, 30},
        {&EVAL.king_attacker[3], 40},    {&EVAL.no_queen, 100},           {&EVAL.winnable_base, 30},
        {&EVAL.squares[ROOK][6][1], 60}, {&EVAL.pawn_attacks_piece, -50},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TuneWeights weights = truth;
        int index = index_of(cases[i].value);
        weights.mg[index] += cases[i].shift;
        double before = tune_loss(&data.validation, &weights, K_OF_RESULTS, 1);
        learn(&weights, 150, 2);
        assert_true(before > 1e-7); // else nothing would be shown
        assert_true(tune_loss(&data.validation, &weights, K_OF_RESULTS, 1) < before / 3);
        assert_true(fabs(weights.mg[index] - truth.mg[index]) < fabs(cases[i].shift));
    }
}

static void the_number_of_threads_changes_nothing(void **state) {
    (void)state;
    TuneWeights one = truth, three;
    one.mg[index_of(&EVAL.material[QUEEN])] += 100;
    three = one;
    learn(&one, 3, 1);
    learn(&three, 3, 3);
    assert_memory_equal(&one, &three, sizeof one);
}

static void saying_the_mean_is_worse_than_the_evaluation(void **state) {
    (void)state;
    assert_true(tune_loss(&data.training, &truth, K_OF_RESULTS, 1) < 1e-9);
    assert_true(tune_loss_of_constant(&data.training) > 0.01);
}

// ---- the file of values -------------------------------------------------------------------------

static char *text_of(const char *path) {
    static char text[1 << 16];
    FILE *in = fopen(path, "r");
    if (!in)
        fail_msg("cannot open %s", path);
    size_t length = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    text[length] = '\0';
    return text;
}

static void the_values_print_as_the_file_that_holds_them(void **state) {
    (void)state;
    char *printed = NULL;
    size_t size;
    FILE *out = open_memstream(&printed, &size);
    values_print(out, &EVAL);
    fclose(out);
    assert_string_equal(printed, text_of("engine/eval/values.c"));
    free(printed);
}

static void weights_round_to_the_nearest_values(void **state) {
    (void)state;
    TuneWeights weights = truth;
    EvalValues values;
    tune_weights_round(&weights, &values);
    assert_memory_equal(&values, &EVAL, sizeof values);
    weights.mg[index_of(&EVAL.doubled)] = -7.6;
    weights.eg[index_of(&EVAL.doubled)] = 3.4;
    weights.mg[index_of(&EVAL.tempo)] = 20.5;
    tune_weights_round(&weights, &values);
    assert_int_equal(values.doubled, PAIR(-8, 3));
    assert_int_equal(values.tempo, 21);
}

static void a_file_of_values_is_written_whole_or_not_at_all(void **state) {
    (void)state;
    char folder[] = "/tmp/test_tune.XXXXXX", path[64], part[80];
    Refusal err;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/values.c", folder);
    snprintf(part, sizeof part, "%s.part", path);
    assert_true(values_write(path, &EVAL, &err));
    assert_non_null(strstr(text_of(path), ".tempo = "));
    assert_int_not_equal(access(part, F_OK), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_false(values_write(path, &EVAL, &err));
    assert_non_null(strstr(err.message, path));
}

int main(void) {
    rules_init();
    eval_init();
    cache = calloc(1, sizeof *cache);
    pawn_cache_clear(cache);
    data_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_trace_adds_up_to_the_evaluation),
        cmocka_unit_test(the_table_has_a_row_for_every_value),
        cmocka_unit_test(a_score_in_real_numbers_is_that_of_the_evaluation),
        cmocka_unit_test(the_steepness_of_the_results_is_found),
        cmocka_unit_test(what_a_knight_is_worth_is_found_again),
        cmocka_unit_test(values_of_every_kind_are_learned),
        cmocka_unit_test(the_number_of_threads_changes_nothing),
        cmocka_unit_test(saying_the_mean_is_worse_than_the_evaluation),
        cmocka_unit_test(the_values_print_as_the_file_that_holds_them),
        cmocka_unit_test(weights_round_to_the_nearest_values),
        cmocka_unit_test(a_file_of_values_is_written_whole_or_not_at_all),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tune_data_release(&data);
    free(cache);
    return failed;
}
