// Magic numbers: the search prints the header that the rules hold, and look-ups agree with walking.

#include <stdlib.h>

#include "engine/commands/magics.h"
#include "tests/unit/rules/rules_kit.h"

// The engine's command is no part of a library; its source is small enough to be built in here.
#include "engine/commands/magics.c"

static void the_search_prints_the_header_that_the_rules_hold(void **state) {
    (void)state;
    char held[16384], *printed = NULL;
    size_t printed_size;
    FILE *file = fopen("engine/rules/magics.h", "r");
    assert_non_null(file);
    size_t held_size = fread(held, 1, sizeof held, file);
    fclose(file);
    FILE *out = open_memstream(&printed, &printed_size);
    magic_print(out);
    fclose(out);
    assert_int_equal(printed_size, held_size);
    assert_memory_equal(printed, held, held_size);
    free(printed);
}

static void look_ups_agree_with_walking(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (Square s = 0; s < SQUARE_NB; s++)
        for (int i = 0; i < 500; i++) {
            Bitboard occupied = random_word(&seed) & random_word(&seed);
            assert_true(attacks_rook(s, occupied) == slider_walk(ROOK, s, occupied));
            assert_true(attacks_bishop(s, occupied) == slider_walk(BISHOP, s, occupied));
        }
}

static void lines_run_from_edge_to_edge_and_between_excludes_the_ends(void **state) {
    (void)state;
    assert_true(squares_between(A1, D1) == (square_bb(B1) | square_bb(C1)));
    assert_true(squares_line(B1, D1) == bitboard_rank(0));
    assert_true(squares_line(A1, 9) == UINT64_C(0x8040201008040201));
    assert_true(squares_between(A1, H8) == UINT64_C(0x0040201008040200));
    assert_true(squares_line(A1, 10) == 0 && squares_between(A1, 10) == 0);
}

int main(void) {
    rules_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_search_prints_the_header_that_the_rules_hold),
        cmocka_unit_test(look_ups_agree_with_walking),
        cmocka_unit_test(lines_run_from_edge_to_edge_and_between_excludes_the_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
