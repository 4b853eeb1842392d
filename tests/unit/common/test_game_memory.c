// The memory of a game, as server and worker compute it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/common/game_memory.h"

static int slots_on(const GameMemory *game, int cores, int memory_mib) {
    return game_slots(game_memory_mib(game), game_cores(game), cores, memory_mib);
}

static void the_hash_is_that_of_the_option_hash(void **state) {
    (void)state;
    static const struct {
        const char *options;
        int mib;
    } rows[] = {
        {"", 16},
        {"Hash=64", 64},
        {"hash=256", 256},
        {"MyHash=1 Hash=256", 256},
        {"MyHash=1", 16},
        {"HASH=8", 8},
        {"Hash=x", 16},
        {"Hash=", 16},
        {"Hash=-1", 16},
        {"Hash", 16},
        {"Hash=0", 0},
        {"Move=5  Hash=32 A=b", 32},
        {"HashFile=1", 16},
        {"Hash=99999999999", 16},
        {"A=Hash=5", 16},
        {"\"My Hash\"=5", 16},
        {"\"My Hash\"=5 Hash=32", 32},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (game_hash_mib(rows[i].options) != rows[i].mib)
            fail_msg("'%s' is %lld MiB, not %d", rows[i].options,
                     (long long)game_hash_mib(rows[i].options), rows[i].mib);
}

static void games_at_a_time_are_what_cpus_and_memory_carry(void **state) {
    (void)state;
    static const struct {
        GameMemory game;
        int cores, memory_mib, slots;
    } rows[] = {
        // A game of two engines with 16 MiB of hash needs 160 MiB, the worker itself 64.
        {{{1, 1}, {16, 16}, {0, 0}}, 4, 4096, 4},
        {{{1, 1}, {16, 16}, {0, 0}}, 4, 544, 3},
        {{{1, 1}, {16, 16}, {0, 0}}, 4, 543, 2},
        {{{1, 1}, {16, 16}, {0, 0}}, 4, 224, 1},
        {{{1, 1}, {16, 16}, {0, 0}}, 4, 223, 0},
        {{{1, 1}, {16, 16}, {0, 0}}, 4, 10, 0},
        {{{2, 2}, {16, 16}, {0, 0}}, 4, 4096, 2},
        {{{2, 2}, {16, 16}, {0, 0}}, 5, 4096, 2},
        {{{8, 8}, {16, 16}, {0, 0}}, 4, 4096, 0},
        {{{1, 1}, {1024, 1024}, {0, 0}}, 16, 8192, 3},
        {{{1, 1}, {2048, 16}, {0, 0}}, 16, 8192, 3},
        {{{1, 1}, {16, 16}, {80, 80}}, 16, 1024, 3},
        {{{4, 4}, {256, 256}, {40, 40}}, 64, 7000, 9},
        {{{1, 0}, {16, 0}, {0, 0}}, 4, 64 + 80, 1},
        {{{1, 0}, {16, 0}, {0, 0}}, 4, 64 + 79, 0},
        // The cores are those of the side with more threads, the memory is that of each side.
        {{{1, 4}, {16, 16}, {0, 0}}, 8, 4096, 2},
        {{{4, 1}, {16, 16}, {0, 0}}, 8, 4096, 2},
        {{{1, 4}, {16, 16}, {0, 0}}, 8, 64 + 184, 1},
        {{{1, 4}, {16, 16}, {0, 0}}, 8, 64 + 183, 0},
        {{{1, 9}, {16, 16}, {0, 0}}, 8, 4096, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(slots_on(&rows[i].game, rows[i].cores, rows[i].memory_mib), rows[i].slots);
}

static void what_engines_may_use_together_is_what_is_offered(void **state) {
    (void)state;
    GameMemory game = {.threads = {2, 5}, .hash_mib = {512, 64}, .nets_mib = {20, 40}};
    for (int memory = 1000; memory < 20000; memory += 777) {
        int slots = slots_on(&game, 16, memory);
        if (!slots)
            continue;
        int64_t sum = 0;
        for (int side = 0; side < 2; side++) {
            int64_t limit = game_limit_mib(&game, side, memory, slots);
            int64_t need =
                game_engine_mib(game.threads[side], game.hash_mib[side], game.nets_mib[side]);
            assert_true(limit >= need);
            sum += limit;
        }
        assert_true(sum * slots <= memory);
    }
}

static void nets_count_for_each_side(void **state) {
    (void)state;
    GameMemory game = {.threads = {1, 1}, .hash_mib = {16, 16}};
    int64_t without = game_memory_mib(&game);
    game.nets_mib[0] = 100;
    assert_int_equal(game_memory_mib(&game), without + 100);
    game.nets_mib[1] = 30;
    assert_int_equal(game_memory_mib(&game), without + 130);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_that_of_the_option_hash),
        cmocka_unit_test(games_at_a_time_are_what_cpus_and_memory_carry),
        cmocka_unit_test(what_engines_may_use_together_is_what_is_offered),
        cmocka_unit_test(nets_count_for_each_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
