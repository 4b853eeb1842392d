// Polyglot keys and books (engine/rules/polyglot.h), against the keys published with the format.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/rules/notation.h"
#include "engine/rules/polyglot.h"

static Position position_after(const char *moves) {
    Position pos;
    Refusal err;
    char copy[128], *rest = copy;
    snprintf(copy, sizeof copy, "%s", moves);
    assert_true(position_from_fen(&pos, POSITION_START_FEN, false, &err));
    for (char *word; (word = strsep(&rest, " ")) && *word;) {
        Undo undo;
        Move move = move_from_uci(&pos, word);
        assert_int_not_equal(move, MOVE_NONE);
        position_make(&pos, move, &undo);
    }
    return pos;
}

static void published_keys_come_out(void **state) {
    (void)state;
    static const struct {
        const char *moves;
        Key key;
    } published[] = {
        {"", 0x463b96181691fc9c},
        {"e2e4", 0x823c9b50fd114196},
        {"e2e4 d7d5", 0x0756b94461c50fb0},
        {"e2e4 d7d5 e4e5", 0x662fafb965db29d4},
        {"e2e4 d7d5 e4e5 f7f5", 0x22a48b5a8e47ff78},
        {"e2e4 d7d5 e4e5 f7f5 e1e2", 0x652a607ca3f242c1},
        {"e2e4 d7d5 e4e5 f7f5 e1e2 e8f7", 0x00fdd303c946bdd9},
        {"a2a4 b7b5 h2h4 b5b4 c2c4", 0x3c8123ea7b067637},
        {"a2a4 b7b5 h2h4 b5b4 c2c4 b4c3 a1a3", 0x5c3f9b829b279560},
    };
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        Position pos = position_after(published[i].moves);
        if (polyglot_key(&pos) != published[i].key)
            fail_msg("%s: %016llx", published[i].moves, (unsigned long long)polyglot_key(&pos));
    }
}

typedef struct Bytes {
    unsigned char data[1024];
    size_t size;
} Bytes;

static void put(Bytes *book, uint64_t value, int count) {
    for (int i = count - 1; i >= 0; i--)
        book->data[book->size++] = (unsigned char)(value >> 8 * i);
}

static void put_entry(Bytes *book, Key key, unsigned move, unsigned weight) {
    put(book, key, 8);
    put(book, move, 2);
    put(book, weight, 2);
    put(book, 0, 4);
}

// As the format has it: to and from, three bits a file and a rank.
static unsigned code(const char *move) {
    return (unsigned)((move[2] - 'a') | (move[3] - '1') << 3 | (move[0] - 'a') << 6 |
                      (move[1] - '1') << 9);
}

static void moves_of_a_position_are_found_with_their_weights(void **state) {
    (void)state;
    Bytes bytes = {.size = 0};
    PolyglotBook book;
    PolyglotMove moves[MOVES_MAX];
    Refusal err;
    Position start = position_after(""), later = position_after("e2e4");
    put_entry(&bytes, 5, code("a2a3"), 9);
    put_entry(&bytes, polyglot_key(&start), code("e2e4"), 700);
    put_entry(&bytes, polyglot_key(&start), code("g1f3"), 3);
    put_entry(&bytes, polyglot_key(&start), code("e2e5"), 3); // not legal
    assert_true(polyglot_open(&book, bytes.data, bytes.size, &err));
    assert_int_equal(polyglot_moves(&book, &start, moves), 2);
    assert_int_equal(moves[0].weight, 700);
    assert_int_equal(moves[1].move, move_from_uci(&start, "g1f3"));
    assert_int_equal(polyglot_moves(&book, &later, moves), 0);
}

static void castling_and_promotion_are_read_as_the_format_writes_them(void **state) {
    (void)state;
    Position pos;
    Refusal err;
    PolyglotBook book;
    PolyglotMove moves[MOVES_MAX];
    Bytes bytes = {.size = 0};
    assert_true(position_from_fen(&pos, "4k3/P7/8/8/8/8/8/R3K2R w KQ - 0 1", false, &err));
    put_entry(&bytes, polyglot_key(&pos), code("e1h1"), 1);
    put_entry(&bytes, polyglot_key(&pos), code("e1c1"), 1); // as some books have it
    put_entry(&bytes, polyglot_key(&pos), code("a7a8") | 3 << 12, 1);
    put_entry(&bytes, polyglot_key(&pos), code("a7a8"), 1); // to what?
    assert_true(polyglot_open(&book, bytes.data, bytes.size, &err));
    assert_int_equal(polyglot_moves(&book, &pos, moves), 3);
    assert_int_equal(moves[0].move, move_from_uci(&pos, "e1g1"));
    assert_int_equal(moves[1].move, move_from_uci(&pos, "e1c1"));
    assert_int_equal(moves[2].move, move_from_uci(&pos, "a7a8r"));
}

static void what_is_no_book_is_refused(void **state) {
    (void)state;
    Bytes bytes = {.size = 0};
    PolyglotBook book;
    Refusal err;
    assert_false(polyglot_open(&book, bytes.data, 0, &err));
    put_entry(&bytes, 7, 0, 1);
    assert_false(polyglot_open(&book, bytes.data, 15, &err));
    put_entry(&bytes, 6, 0, 1);
    assert_false(polyglot_open(&book, bytes.data, bytes.size, &err));
    assert_string_equal(err.message, "entry 2: the keys are not in order");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_keys_come_out),
        cmocka_unit_test(moves_of_a_position_are_found_with_their_weights),
        cmocka_unit_test(castling_and_promotion_are_read_as_the_format_writes_them),
        cmocka_unit_test(what_is_no_book_is_refused),
    };
    rules_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
