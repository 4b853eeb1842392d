// What a net says: every kernel the same, the files' two forms the same, both colours alike, and
// accumulators that followed the moves the same as those made from nothing.
#include "tests/unit/engine/nnue_kit.h"

#include "engine/nnue/accumulator.h"

static Network own_rows, shared_rows, extreme;

static int make_nets(void **state) {
    (void)state;
    rules_init();
    network_fill(&own_rows, 11, &usual_scale);
    network_fill_compact(&shared_rows, 8, 12, &usual_scale);
    network_fill_compact(&extreme, 3, 13, &extreme_scale);
    // Sums of 32 bits that wrap, both ways.
    extreme.dense.b1[0] = extreme.dense.b2[1] = extreme.dense.b3 = INT32_MAX;
    extreme.dense.b1[2] = extreme.dense.b2[3] = INT32_MIN;
    network_pack(&extreme);
    return 0;
}

static int release_nets(void **state) {
    (void)state;
    network_release(&own_rows);
    network_release(&shared_rows);
    network_release(&extreme);
    return 0;
}

// ---- kernels ------------------------------------------------------------------------------------

static void fill_row(NetRow row, uint64_t *seed, int most) {
    for (int i = 0; i < NET_WIDTH; i++)
        row[i] = (int16_t)net_random(seed, -most, most);
}

// Outputs of `kernel` and of the plain layers for accumulators of every size.
static void check_forward(const NetKernel *kernel, const Network *net) {
    static const int sizes[] = {0, 3, 60, 200, 2000, 32767};
    uint64_t seed = 99;
    for (int n = 0; n < 600; n++) {
        NetRow us, them;
        NetTrace trace;
        fill_row(us, &seed, sizes[n % 6]);
        fill_row(them, &seed, sizes[n / 6 % 6]);
        network_trace(net, us, them, &trace);
        if (kernel->forward(net->packed, us, them) != trace.raw)
            fail_msg("%s differs in case %d", kernel->name, n);
    }
}

static void every_kernel_gives_what_the_plain_layers_give(void **state) {
    (void)state;
    const NetKernel *kernels[NET_KERNELS_MAX];
    int count = net_kernels(kernels);
    assert_ptr_equal(kernels[count - 1], &NET_KERNEL_PLAIN);
    for (int i = 0; i < count; i++) {
        check_forward(kernels[i], &own_rows);
        check_forward(kernels[i], &shared_rows);
        check_forward(kernels[i], &extreme);
    }
}

static void check_accumulate(const NetKernel *kernel, int plus, int minus, uint64_t *seed) {
    static NetRow rows[2 * NET_PIECES_MAX];
    NetRow from, wanted, got;
    NetDelta delta;
    delta_clear(&delta);
    fill_row(from, seed, 32767);
    for (int r = 0; r < plus + minus; r++)
        fill_row(rows[r], seed, r % 2 ? 32767 : 100);
    for (int r = 0; r < plus; r++)
        delta_add(&delta, rows[r]);
    for (int r = plus; r < plus + minus; r++)
        delta_remove(&delta, rows[r]);
    for (int i = 0; i < NET_WIDTH; i++) {
        int64_t sum = from[i];
        for (int r = 0; r < plus; r++)
            sum += rows[r][i];
        for (int r = plus; r < plus + minus; r++)
            sum -= rows[r][i];
        wanted[i] = (int16_t)(uint16_t)(uint64_t)sum;
    }
    kernel->accumulate(got, from, &delta);
    assert_memory_equal(got, wanted, sizeof got);
    kernel->accumulate(from, from, &delta); // in place
    assert_memory_equal(from, wanted, sizeof got);
}

static void every_kernel_adds_and_takes_away_rows(void **state) {
    (void)state;
    const NetKernel *kernels[NET_KERNELS_MAX];
    uint64_t seed = 5;
    for (int i = net_kernels(kernels) - 1; i >= 0; i--)
        for (int plus = 0; plus <= 30; plus += plus < 4 ? 1 : 13)
            for (int minus = 0; minus <= 30; minus += minus < 4 ? 1 : 13)
                check_accumulate(kernels[i], plus, minus, &seed);
}

// ---- positions ----------------------------------------------------------------------------------

static int32_t evaluate_by(const NetKernel *kernel, Network *net, const Position *pos) {
    const NetKernel *before = net->kernel;
    net->kernel = kernel;
    int32_t raw = network_evaluate(net, pos);
    net->kernel = before;
    return raw;
}

static void check_kernels(Position *pos) {
    const NetKernel *kernels[NET_KERNELS_MAX];
    int count = net_kernels(kernels);
    for (int i = 0; i < count; i++) {
        assert_int_equal(evaluate_by(kernels[i], &shared_rows, pos),
                         network_evaluate(&shared_rows, pos));
        assert_int_equal(evaluate_by(kernels[i], &extreme, pos), network_evaluate(&extreme, pos));
    }
}

static void every_kernel_judges_positions_alike(void **state) {
    (void)state;
    random_walks(100, check_kernels);
}

// Outputs of a net made up at random must differ, or nothing here is tested.
static int32_t lowest, highest;

static void note_output(Position *pos) {
    int32_t raw = network_evaluate(&shared_rows, pos);
    lowest = raw < lowest ? raw : lowest;
    highest = raw > highest ? raw : highest;
}

static void outputs_are_not_all_the_same(void **state) {
    (void)state;
    lowest = INT32_MAX, highest = INT32_MIN;
    random_walks(50, note_output);
    assert_true(highest - lowest > 1000);
}

static void check_half_turn(Position *pos) {
    Position other = turned(pos, 63, true);
    assert_int_equal(network_evaluate(&own_rows, &other), network_evaluate(&own_rows, pos));
}

static void a_half_turn_with_colours_exchanged_changes_nothing(void **state) {
    (void)state;
    random_walks(100, check_half_turn);
}

static void check_compact_symmetry(Position *pos) {
    Position flipped = turned(pos, 56, true), mirrored = turned(pos, 7, false);
    int32_t raw = network_evaluate(&shared_rows, pos);
    assert_int_equal(network_evaluate(&shared_rows, &flipped), raw);
    assert_int_equal(network_evaluate(&shared_rows, &mirrored), raw);
}

static void a_compact_net_knows_neither_colours_nor_wings(void **state) {
    (void)state;
    random_walks(100, check_compact_symmetry);
}

static Network as_published;

static void check_expanded(Position *pos) {
    assert_int_equal(network_evaluate(&as_published, pos), network_evaluate(&shared_rows, pos));
}

static void a_compact_net_in_the_published_form_says_the_same(void **state) {
    (void)state;
    size_t size;
    Refusal err;
    uint8_t *bytes = network_write(&shared_rows, &size);
    assert_true(network_read(&as_published, bytes, size, &err));
    free(bytes);
    random_walks(100, check_expanded);
    network_release(&as_published);
}

static void features_are_where_the_published_form_has_them(void **state) {
    (void)state;
    // White: king e1, the black queen on d8 in plane 9. Black sees the board after half a turn.
    assert_int_equal(net_index(WHITE, 4, piece_make(BLACK, QUEEN), 59), 59 + 1 + 64 * 9 + 641 * 4);
    assert_int_equal(net_index(BLACK, 60, piece_make(BLACK, QUEEN), 59), 4 + 1 + 64 * 8 + 641 * 3);
    assert_int_equal(net_index(BLACK, 60, piece_make(WHITE, PAWN), 8), 55 + 1 + 64 * 1 + 641 * 3);
}

// ---- accumulators -------------------------------------------------------------------------------

static Accumulators *followed;

static void check_followed(const Position *pos) {
    for (int view = WHITE; view <= BLACK; view++) {
        NetRow fresh;
        network_accumulate(followed->net, pos, (Color)view, fresh);
        const int16_t *values = accumulators_update(followed, pos, (Color)view);
        assert_memory_equal(values, fresh, sizeof fresh);
    }
    assert_int_equal(accumulators_evaluate(followed, pos), network_evaluate(followed->net, pos));
}

// A random tree below `pos`, with null moves, checked at about `percent` of its nodes.
static void wander(Position *pos, int depth, int percent, uint64_t *seed) {
    MoveList list;
    Undo undo;
    if (net_random(seed, 1, 100) <= percent)
        check_followed(pos);
    movegen_legal(pos, &list);
    for (int i = 0; depth > 0 && list.size > 0 && i < 2; i++) {
        Move move = list.moves[random_below(seed, list.size)];
        accumulators_push(followed, pos, move);
        position_make(pos, move, &undo);
        wander(pos, depth - 1, percent, seed);
        position_unmake(pos, move, &undo);
        accumulators_pop(followed);
    }
    if (depth > 0 && !pos->checkers && net_random(seed, 0, 3) == 0) {
        position_make_null(pos, &undo);
        wander(pos, depth - 1, percent, seed);
        position_unmake_null(pos, &undo);
    }
}

static uint64_t wander_seed;
static int wander_step;

// Every tenth position of a walk is the root of a tree.
static void wander_from(Position *pos) {
    static const int percents[] = {100, 30, 5};
    if (wander_step++ % 10)
        return;
    Position root = *pos;
    accumulators_restart(followed);
    wander(&root, 6, percents[wander_step / 10 % 3], &wander_seed);
    assert_int_equal(followed->top, 0);
    check_followed(pos);
}

static void follow(const Network *net) {
    followed = accumulators_new(net);
    wander_seed = 4711;
    random_walks(150, wander_from);
    free(followed);
}

static void following_the_moves_is_the_same_as_beginning_anew(void **state) {
    (void)state;
    follow(&own_rows);
    follow(&shared_rows);
    follow(&extreme);
}

// Down a line of a hundred moves without a look, and up again with one at every ply.
static void long_lines_are_followed(void **state) {
    (void)state;
    enum { LINE = PLY_MAX };
    uint64_t seed = 31;
    for (int i = 0; i < LIVELY_FENS; i++) {
        Position pos = position_of(lively_fens[i]);
        Undo undo[LINE];
        Move moves[LINE];
        MoveList list;
        int length = 0;
        followed = accumulators_new(&shared_rows);
        for (movegen_legal(&pos, &list); length < LINE && list.size > 0;
             movegen_legal(&pos, &list)) {
            moves[length] = list.moves[random_below(&seed, list.size)];
            accumulators_push(followed, &pos, moves[length]);
            position_make(&pos, moves[length], &undo[length]);
            length++;
        }
        while (length-- > 0) {
            check_followed(&pos);
            position_unmake(&pos, moves[length], &undo[length]);
            accumulators_pop(followed);
        }
        check_followed(&pos);
        free(followed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_gives_what_the_plain_layers_give),
        cmocka_unit_test(every_kernel_adds_and_takes_away_rows),
        cmocka_unit_test(every_kernel_judges_positions_alike),
        cmocka_unit_test(outputs_are_not_all_the_same),
        cmocka_unit_test(a_half_turn_with_colours_exchanged_changes_nothing),
        cmocka_unit_test(a_compact_net_knows_neither_colours_nor_wings),
        cmocka_unit_test(a_compact_net_in_the_published_form_says_the_same),
        cmocka_unit_test(features_are_where_the_published_form_has_them),
        cmocka_unit_test(following_the_moves_is_the_same_as_beginning_anew),
        cmocka_unit_test(long_lines_are_followed),
    };
    return cmocka_run_group_tests(tests, make_nets, release_nets);
}
