// Numbered walks, and the files that stand for books.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "engine/book/key_set.h"
#include "engine/book/walk.h"
#include "engine/book/walks.h"
#include "engine/rules/movegen.h"

static Refusal err;

static int rules(void **state) {
    (void)state;
    rules_init();
    return 0;
}

// Frozen: a changed walk would make another book of every file.
static void a_number_always_makes_the_same_walk(void **state) {
    (void)state;
    static const struct {
        uint32_t number;
        const char *epd;
    } frozen[] = {
        {0u, "rnbqk1nr/ppp1bpp1/8/3pp2p/P5P1/8/NPPPPP1P/1RBQKBNR b Kkq -"},
        {1u, "rn1qkb1r/ppp1pp1p/4bn2/3p2p1/1P2P2P/P4N2/2PP1PP1/RNBQKB1R b KQkq -"},
        {2u, "r1bqkbnr/pp1p2pp/n1p2p2/4p3/2P1P1Q1/P7/1P1PKPPP/RNB2BNR b kq -"},
        {4095u, "rnb1kbnr/pp1ppp1p/1q4p1/2p5/1PP2P2/8/P2PP1PP/RNBQKBNR w KQkq -"},
        {4096u, "rnbqkb1r/1p1ppppp/5n2/p6Q/2p5/3PP3/PPPB1PPP/RN2KBNR b KQkq -"},
        {1234567u, "rn1qkb1r/p1pppppp/bp6/5n2/P4PP1/7N/1PPPP2P/RNBQKB1R b KQkq -"},
        {4294967295u, "rn1qkbnr/p1ppp1pp/1p3p2/3b4/1P6/5PP1/P1PPP2P/RNBQKBNR w KQkq -"},
    };
    for (size_t i = 0; i < sizeof frozen / sizeof *frozen; i++) {
        Position pos;
        char epd[FEN_MAX];
        assert_true(walk_exit(frozen[i].number, &pos));
        assert_string_equal(walk_epd(&pos, epd), frozen[i].epd);
    }
}

static void no_game_begins_in_check_or_at_its_end(void **state) {
    (void)state;
    int refused_walks = 0, sides[COLOR_NB] = {0};
    for (uint32_t number = 0; number < 5000; number++) {
        Position pos;
        MoveList list;
        if (!walk_exit(number, &pos)) {
            refused_walks++;
            continue;
        }
        movegen_legal(&pos, &list);
        assert_true(list.size > 0 && !pos.checkers);
        sides[pos.side]++;
    }
    assert_in_range(refused_walks, 50, 1000);
    assert_in_range(sides[WHITE], 1500, 3000);
    assert_in_range(sides[BLACK], 1500, 3000);
}

static void a_set_of_keys_says_which_are_new(void **state) {
    (void)state;
    KeySet set;
    assert_true(key_set_init(&set, 1000));
    assert_true(key_set_add(&set, 0));
    assert_false(key_set_add(&set, 0));
    // All of these want the same place of the table.
    for (Key key = 1; key < 1000; key++)
        assert_true(key_set_add(&set, key << 32));
    for (Key key = 1; key < 1000; key++)
        assert_false(key_set_add(&set, key << 32));
    key_set_release(&set);
}

// ---- files --------------------------------------------------------------------------------------

enum { COUNT = 300, STEP = 7 };

static void make_walks(Walks *out) {
    size_t size;
    *out = (Walks){.recipe = {.nodes = 1000, .low = 50, .high = 100, .net = "none"}};
    out->numbers = calloc(COUNT, sizeof *out->numbers);
    assert_non_null(out->numbers);
    for (uint32_t number = 1; out->recipe.count < COUNT; number += 1 + number % STEP * 3) {
        Position pos;
        if (walk_exit(number, &pos))
            out->numbers[out->recipe.count++] = number;
        out->recipe.walks = number + 1;
    }
    char *book = walks_print(out->numbers, COUNT, &size);
    sha256_text(book, size, out->recipe.book);
    free(book);
}

static void a_file_says_what_was_written(void **state) {
    (void)state;
    size_t size, again_size, book_size;
    Walks walks, read;
    make_walks(&walks);
    uint8_t *bytes = walks_write(&walks, &size), *again;
    assert_true(walks_read(bytes, size, &read, &err));
    assert_memory_equal(read.numbers, walks.numbers, COUNT * sizeof *read.numbers);
    assert_non_null(again = walks_write(&read, &again_size));
    assert_int_equal(size, again_size);
    assert_memory_equal(bytes, again, size);
    char *book = walks_expand(&read, &book_size, &err);
    assert_non_null(book);
    size_t lines = 0;
    for (const char *at = book; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, COUNT);
    walks_release(&walks);
    walks_release(&read);
    free(bytes);
    free(again);
    free(book);
}

static void a_file_that_is_cut_or_longer_is_refused(void **state) {
    (void)state;
    size_t size;
    Walks walks, read;
    make_walks(&walks);
    uint8_t *bytes = walks_write(&walks, &size);
    uint8_t *longer = calloc(1, size + 1);
    assert_non_null(longer);
    memcpy(longer, bytes, size);
    for (size_t cut = 0; cut <= size + 1; cut++) {
        if (cut == size)
            continue;
        assert_false(walks_read(longer, cut, &read, &err));
        assert_true(*err.message);
        walks_release(&read);
    }
    walks_release(&walks);
    free(bytes);
    free(longer);
}

static void recipes_out_of_range_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *said;
    } bad[] = {
        {"walks 1", "walks 2", "first line"},     {"count=300", "count=+30", "first line"},
        {"count=300", "count=000", "first line"}, {"count=300", "count=999", "missing"},
        {"count=300", "count=100", "follows"},    {"rice=2", "rice=3", "missing"},
        {" net=", "  net", "first line"},
    };
    size_t size;
    Walks walks, read;
    make_walks(&walks);
    uint8_t *bytes = walks_write(&walks, &size);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint8_t *copy = malloc(size);
        memcpy(copy, bytes, size);
        char *at = memmem(copy, size, bad[i].from, strlen(bad[i].from));
        assert_non_null(at);
        memcpy(at, bad[i].to, strlen(bad[i].to));
        assert_false(walks_read(copy, size, &read, &err));
        if (!strstr(err.message, bad[i].said))
            fail_msg("%s: %s", bad[i].to, err.message);
        walks_release(&read);
        free(copy);
    }
    walks_release(&walks);
    free(bytes);
}

static void another_book_than_the_recipe_says_is_refused(void **state) {
    (void)state;
    size_t size;
    Walks walks;
    make_walks(&walks);
    walks.numbers[17]++;
    assert_null(walks_expand(&walks, &size, &err));
    assert_non_null(strstr(err.message, walks.recipe.book));
    walks_release(&walks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_always_makes_the_same_walk),
        cmocka_unit_test(no_game_begins_in_check_or_at_its_end),
        cmocka_unit_test(a_set_of_keys_says_which_are_new),
        cmocka_unit_test(a_file_says_what_was_written),
        cmocka_unit_test(a_file_that_is_cut_or_longer_is_refused),
        cmocka_unit_test(recipes_out_of_range_are_refused),
        cmocka_unit_test(another_book_than_the_recipe_says_is_refused),
    };
    return cmocka_run_group_tests(tests, rules, NULL);
}
