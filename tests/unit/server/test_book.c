// Books: what is read and refused, the order in which openings are dealt, and dealing itself.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "engine/rules/position.h"
#include "server/common/file.h"
#include "server/storage/book.h"
#include "server/storage/book_install.h"
#include "tests/kit/ledger_kit.h"

static const char EPD[] = "# a comment\n"
                          "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - hmvc 0; fmvn 1;\r\n"
                          "\n"
                          "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n";
static const char PGN[] = "[Event \"?\"]\n\n1. e4 {best by test} e5 2. Nf3 Nc6 *\n\n"
                          "[Event \"?\"]\n\n1. d4 (1. c4) d5 1/2-1/2\n";
static Error err;

static int rules(void **state) {
    (void)state;
    rules_init();
    return 0;
}

static BookText read_text(const char *text, int plies) {
    BookText book;
    if (!book_read(text, strlen(text), plies, "", &book, &err))
        fail_msg("%s", err.message);
    return book;
}

static void epd_lines_become_openings(void **state) {
    (void)state;
    BookText book scope(book_text_release) = read_text(EPD, 8);
    assert_int_equal(book.openings, 2);
    assert_false(book.is_pgn || book.chess960);
    assert_string_equal(book.lines.data,
                        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\t\n"
                        "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\t\n");
}

static void pgn_games_become_moves_up_to_a_length(void **state) {
    (void)state;
    BookText book scope(book_text_release) = read_text(PGN, 3);
    assert_true(book.is_pgn);
    assert_string_equal(book.lines.data,
                        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\te2e4 e7e5 g1f3\n"
                        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\td2d4 d7d5\n");
}

static void chess960_positions_make_a_chess960_book(void **state) {
    (void)state;
    BookText book scope(book_text_release) =
        read_text("bqnbrnkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBRNKR w HEhe - 0 1\n", 8);
    assert_true(book.chess960);
    assert_non_null(strstr(book.lines.data, "HEhe"));
}

static void bad_books_are_refused_with_line_and_reason(void **state) {
    (void)state;
    static const struct {
        const char *text, *said;
    } bad[] = {{"", "no opening"},
               {"# nothing\n\n", "no opening"},
               {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n8/8 w - -\n", "line 2"},
               {"hello\n", "line 1"},
               {"[Event \"?\"]\n\n1. e4 e5 2. Ke3 *\n", "line 3: 'Ke3'"},
               {"8/8/8/8/8/6k1/6q1/7K w - - 0 1\n", "line 1: the game is over there"},
               {"# stalemate\n7K/5k2/6q1/8/8/8/8/8 w - -\n", "line 2: the game is over there"},
               {"[Event \"?\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n", "line 1: the game is over there"},
               {"[Variant \"Crazyhouse\"]\n\n1. e4 e5 *\n", "line 1: the game is of a variant"},
               {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1\n"
                "rnbqkbnr/pppp1Qpp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1\n",
                "line 2"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        BookText book scope(book_text_release);
        assert_false(book_read(bad[i].text, strlen(bad[i].text), 8, "", &book, &err));
        assert_int_equal(err.status, 422);
        if (!strstr(err.message, bad[i].said))
            fail_msg("\"%s\" does not say \"%s\"", err.message, bad[i].said);
    }
}

static void an_opening_that_another_one_reaches_is_left_out(void **state) {
    (void)state;
    BookText pgn scope(book_text_release) = read_text(
        "[Event \"?\"]\n\n1. d4 Nf6 2. c4 e6 *\n\n[Event \"?\"]\n\n1. c4 e6 2. d4 Nf6 *\n\n"
        "[Event \"?\"]\n\n1. c4 e6 2. d4 d5 *\n",
        8);
    assert_int_equal(pgn.openings, 2);
    assert_int_equal(pgn.duplicates, 1);
    assert_null(strstr(pgn.lines.data, "c2c4 e7e6 d2d4 g8f6"));
    BookText epd scope(book_text_release) =
        read_text("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n"
                  "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 3 9\n"
                  "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQq - 0 2\n",
                  8);
    assert_int_equal(epd.openings, 2);
    assert_int_equal(epd.duplicates, 1);
}

static void a_variant_that_was_named_is_the_only_one(void **state) {
    (void)state;
    static const char chess960[] = "bqnbrnkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBRNKR w HEhe - 0 1\n";
    static const struct {
        const char *text, *variant, *said;
    } cases[] = {{chess960, "chess960", NULL},
                 {EPD, "standard", NULL},
                 {chess960, "standard", "line 1: the opening is of the variant chess960"},
                 {EPD, "chess960", "line 2: the opening is of the variant standard"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BookText book scope(book_text_release);
        bool good =
            book_read(cases[i].text, strlen(cases[i].text), 8, cases[i].variant, &book, &err);
        assert_int_equal(good, cases[i].said == NULL);
        if (cases[i].said)
            assert_string_equal(err.message, cases[i].said);
    }
}

// Position `i`: the pawn of each file stands on one of four ranks or is gone, and the black king
// has three squares.
static size_t write_position(unsigned i, char *out) {
    static const char *const kings[] = {"k7", "2k5", "4k3"};
    char ranks[4][8];
    const char *king = kings[i % 3];
    memset(ranks, '1', sizeof ranks);
    i /= 3;
    for (int file = 0; file < 8; file++, i /= 5)
        if (i % 5 < 4)
            ranks[i % 5][file] = 'P';
    return (size_t)snprintf(out, 80, "%s/8/%.8s/%.8s/%.8s/%.8s/8/6K1 w - -\n", king, ranks[0],
                            ranks[1], ranks[2], ranks[3]);
}

static void a_book_has_at_most_a_million_openings(void **state) {
    (void)state;
    enum { LINES = BOOK_OPENINGS_MAX + 1, WIDTH = 80 };
    char *text scope(free_ptr) = xmalloc((size_t)LINES * WIDTH);
    for (unsigned differ = 0; differ < 2; differ++) {
        size_t size = 0;
        for (unsigned i = 0; i < LINES; i++)
            size += write_position(i * differ, text + size);
        BookText book scope(book_text_release);
        assert_false(book_read(text, size, 8, "", &book, &err));
        assert_string_equal(err.message, "line 1000001: a book has at most a million openings, "
                                         "those that are left out included");
    }
}

static void a_line_without_end_is_refused(void **state) {
    (void)state;
    size_t size = BOOK_LINE_MAX * 2;
    char *text scope(free_ptr) = xmalloc(size);
    memset(text, 'k', size);
    BookText book scope(book_text_release);
    assert_false(book_read(text, size, 8, "", &book, &err));
}

static void the_order_is_a_permutation_of_any_size(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 2, 3, 4, 5, 16, 17, 1000, 4097};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        char *seen scope(free_ptr) = xcalloc(sizes[s], 1);
        for (uint64_t i = 0; i < sizes[s]; i++) {
            uint64_t at = book_order(42, i, sizes[s]);
            assert_true(at < sizes[s]);
            assert_int_equal(seen[at]++, 0);
        }
    }
}

// Frozen: a changed order would deal running tests other openings.
static void the_order_never_changes(void **state) {
    (void)state;
    static const uint64_t frozen[] = {116058, 149839, 131787, 66781, 18084, 146401, 23686, 37153};
    for (uint64_t i = 0; i < 8; i++)
        assert_int_equal(book_order(42, i, 242201), frozen[i]);
}

static void seeds_give_different_orders_that_look_random(void **state) {
    (void)state;
    int same_place = 0, neighbours = 0;
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t a = book_order(1, i, 10000), b = book_order(2, i, 10000);
        same_place += a == b;
        neighbours += book_order(1, (i + 1) % 10000, 10000) == (a + 1) % 10000;
    }
    assert_true(same_place < 10);
    assert_true(neighbours < 10);
}

static LedgerKit kit;

static int open_kit(void **state) {
    (void)state;
    return kit_open(&kit) ? 0 : -1;
}

static int close_kit(void **state) {
    (void)state;
    book_cache_clear();
    kit_close(&kit);
    return 0;
}

static int64_t install(const char *text, const char *name) {
    char path[160];
    snprintf(path, sizeof path, "%s/file", kit.folder);
    assert_true(file_write_durable(path, text, strlen(text), &err));
    NewBook book;
    return book_name_check(kit.db, 1, name, &err) &&
                   book_prepare_file(kit.folder, path, name, "", &book, &err)
               ? book_store(kit.db, 1, &book, 0, 5, &err)
               : 0;
}

static void an_installed_book_is_dealt_in_its_order(void **state) {
    (void)state;
    int64_t id = install(PGN, "two");
    assert_true(id > 0);
    assert_int_equal(kit_int(&kit, "SELECT openings FROM books WHERE id = %lld", (long long)id), 2);
    char *blob scope(free_ptr) =
        kit_text(&kit, "SELECT blob FROM books WHERE id = %lld", (long long)id);
    Str text scope(str_release);
    str_init(&text, 10000);
    assert_true(book_openings(kit.folder, blob, 42, 3, 4, &text, &err));
    json_auto_t *list = json_loads(text.data, 0, NULL);
    assert_int_equal(json_array_size(list), 4);
    for (size_t i = 0; i < 4; i++) {
        const char *moves = json_string_value(json_object_get(json_array_get(list, i), "moves"));
        bool first = book_order(42, (3 + i) % 2, 2) == 0;
        assert_string_equal(moves, first ? "e2e4 e7e5 g1f3 b8c6" : "d2d4 d7d5");
    }
}

static void a_name_that_is_taken_is_refused(void **state) {
    (void)state;
    assert_true(install(EPD, "mine") > 0);
    assert_int_equal(install(PGN, "mine"), 0);
    assert_int_equal(err.status, 409);
    assert_int_equal(install("nonsense", "other"), 0);
    assert_non_null(strstr(err.message, "book other: line 1"));
}

static void a_book_that_is_not_on_disk_is_an_error(void **state) {
    (void)state;
    char sha[65];
    memset(sha, 'c', 64);
    sha[64] = 0;
    Str text scope(str_release);
    str_init(&text, 10000);
    assert_false(book_openings(kit.folder, sha, 42, 0, 1, &text, &err));
    assert_int_equal(err.status, 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(epd_lines_become_openings),
        cmocka_unit_test(pgn_games_become_moves_up_to_a_length),
        cmocka_unit_test(chess960_positions_make_a_chess960_book),
        cmocka_unit_test(bad_books_are_refused_with_line_and_reason),
        cmocka_unit_test(an_opening_that_another_one_reaches_is_left_out),
        cmocka_unit_test(a_variant_that_was_named_is_the_only_one),
        cmocka_unit_test(a_book_has_at_most_a_million_openings),
        cmocka_unit_test(a_line_without_end_is_refused),
        cmocka_unit_test(the_order_is_a_permutation_of_any_size),
        cmocka_unit_test(the_order_never_changes),
        cmocka_unit_test(seeds_give_different_orders_that_look_random),
        cmocka_unit_test_setup_teardown(an_installed_book_is_dealt_in_its_order, open_kit,
                                        close_kit),
        cmocka_unit_test_setup_teardown(a_name_that_is_taken_is_refused, open_kit, close_kit),
        cmocka_unit_test_setup_teardown(a_book_that_is_not_on_disk_is_an_error, open_kit,
                                        close_kit),
    };
    return cmocka_run_group_tests(tests, rules, NULL);
}
