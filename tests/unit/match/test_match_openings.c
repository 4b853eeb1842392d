// Openings of a match: EPD, PGN, both packed, and Polyglot books (worker/match/openings.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "engine/rules/notation.h"
#include "engine/rules/polyglot.h"
#include "server/common/str.h"
#include "worker/match/book_file.h"
#include "worker/match/openings.h"

static char folder[64];

static const char *path(const char *name) {
    static char text[128];
    snprintf(text, sizeof text, "%s/%s", folder, name);
    return text;
}

static const char *write_file(const char *name, const void *data, size_t size) {
    FILE *file = fopen(path(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path(name);
}

static const char *write_packed(const char *name, const char *text) {
    gzFile file = gzopen(path(name), "wb");
    assert_non_null(file);
    assert_int_equal(gzputs(file, text), (int)strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
    return path(name);
}

static void the_name_tells_the_format(void **state) {
    (void)state;
    assert_int_equal(book_format_of("a.epd"), BOOK_EPD);
    assert_int_equal(book_format_of("a"), BOOK_EPD);
    assert_int_equal(book_format_of("a.pgn"), BOOK_PGN);
    assert_int_equal(book_format_of("a.pgn.gz"), BOOK_PGN);
    assert_int_equal(book_format_of("book.bin"), BOOK_POLYGLOT);
    assert_int_equal(book_format_of(".gz"), BOOK_EPD);
}

static const char epd[] = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n"
                          "4k3/8/8/8/8/8/4P3/4K3 w - - 0 2\n";

static void a_packed_book_is_the_same_book(void **state) {
    (void)state;
    Error err;
    for (int packed = 0; packed < 2; packed++) {
        scope(openings_release) Openings openings;
        BookSpec spec = {.file = packed ? write_packed("b.epd.gz", epd)
                                        : write_file("b.epd", epd, sizeof epd - 1)};
        assert_true(openings_load(&openings, &spec, 5, &err));
        assert_int_equal(openings.count, 2);
        assert_string_equal(openings.items[1].fen, "4k3/8/8/8/8/8/4P3/4K3 w - - 0 2");
    }
}

static void packed_bytes_are_bounded_and_must_be_whole(void **state) {
    (void)state;
    Error err;
    size_t size;
    scope(str_release) Str zeros;
    str_init(&zeros, 1 << 20);
    for (int i = 0; i < 1 << 16; i++)
        str_puts(&zeros, "4k3/8/8/8/8");
    write_packed("bomb.gz", zeros.data);
    assert_null(book_file_read(path("bomb.gz"), 1 << 16, &size, &err));
    assert_non_null(strstr(err.message, "over 65536 bytes"));
    assert_int_equal(truncate(path("bomb.gz"), 200), 0);
    assert_null(book_file_read(path("bomb.gz"), 1 << 22, &size, &err));
    assert_non_null(strstr(err.message, "bomb.gz: gzip: "));
}

static void put(Str *out, uint64_t value, int count) {
    for (int i = count - 1; i >= 0; i--)
        str_putc(out, (char)(value >> 8 * i));
}

static int by_bytes(const void *a, const void *b) {
    return memcmp(a, b, 16);
}

// e4 (weight 3) or d4 (1), both answered by Nf6.
static const char *write_polyglot(void) {
    static const struct {
        const char *before, *move;
        int weight;
    } entries[] = {{NULL, "e2e4", 3}, {NULL, "d2d4", 1}, {"e2e4", "g8f6", 1}, {"d2d4", "g8f6", 1}};
    Str bytes;
    str_init(&bytes, 1024);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        Position pos;
        Refusal err;
        Undo undo;
        assert_true(position_from_fen(&pos, POSITION_START_FEN, false, &err));
        if (entries[i].before)
            position_make(&pos, move_from_uci(&pos, entries[i].before), &undo);
        Move move = move_from_uci(&pos, entries[i].move);
        put(&bytes, polyglot_key(&pos), 8);
        put(&bytes, (uint64_t)(move_to(move) | move_from(move) << 6), 2);
        put(&bytes, (uint64_t)entries[i].weight, 2);
        put(&bytes, 0, 4);
    }
    qsort(bytes.data, bytes.size / 16, 16, by_bytes);
    write_file("book.bin", bytes.data, bytes.size);
    str_release(&bytes);
    return path("book.bin");
}

static void lines_of_a_polyglot_book_are_drawn_by_weight_and_seed(void **state) {
    (void)state;
    Error err;
    scope(openings_release) Openings openings, same, other, from;
    BookSpec spec = {.file = write_polyglot(), .format = BOOK_POLYGLOT, .seed = 1};
    assert_true(openings_load(&openings, &spec, 4000, &err));
    assert_true(openings_load(&same, &spec, 4000, &err));
    spec.start = 11;
    assert_true(openings_load(&from, &spec, 100, &err));
    spec.seed = 2;
    spec.start = 1;
    assert_true(openings_load(&other, &spec, 4000, &err));
    int king_pawn = 0, differing = 0;
    for (int i = 0; i < 4000; i++) {
        bool e4 = strcmp(openings.items[i].moves, "e2e4 g8f6") == 0;
        assert_true(e4 || strcmp(openings.items[i].moves, "d2d4 g8f6") == 0);
        assert_string_equal(openings.items[i].moves, same.items[i].moves);
        king_pawn += e4;
        differing += strcmp(openings.items[i].moves, other.items[i].moves) != 0;
    }
    assert_in_range(king_pawn, 2850, 3150); // 3000 ± 5.5 standard deviations
    assert_in_range(differing, 1300, 1700); // 1500 of independent draws
    assert_string_equal(from.items[0].moves, openings.items[10].moves);
}

static void plies_cut_a_polyglot_line(void **state) {
    (void)state;
    Error err;
    scope(openings_release) Openings openings;
    BookSpec spec = {.file = write_polyglot(), .format = BOOK_POLYGLOT, .plies = 1};
    assert_true(openings_load(&openings, &spec, 1, &err));
    assert_int_equal(strlen(openings.items[0].moves), 4);
}

static void books_that_are_none_are_named(void **state) {
    (void)state;
    static const struct {
        const char *name, *text, *message;
        BookFormat format;
    } bad[] = {{"empty.epd", "\n# nothing\n", "empty.epd holds no opening", BOOK_EPD},
               {"odd.bin", "0123456789", "odd.bin is not a Polyglot book: the size", BOOK_POLYGLOT},
               {"far.bin", "0123456789abcdef", "no move for the start position", BOOK_POLYGLOT},
               {"line.epd", "4k3/8/8/8/8/8/8/4K3 w - -\nx\n", "line 2", BOOK_EPD}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        scope(openings_release) Openings openings;
        Error err;
        BookSpec spec = {.file = write_file(bad[i].name, bad[i].text, strlen(bad[i].text)),
                         .format = bad[i].format};
        assert_false(openings_load(&openings, &spec, 2, &err));
        if (!strstr(err.message, bad[i].message))
            fail_msg("%s: %s", bad[i].name, err.message);
    }
}

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/openings-XXXXXX");
    rules_init();
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    static const char *const names[] = {"b.epd.gz", "b.epd",   "bomb.gz",  "book.bin",
                                        "odd.bin",  "far.bin", "line.epd", "empty.epd"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path(names[i]));
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_tells_the_format),
        cmocka_unit_test(a_packed_book_is_the_same_book),
        cmocka_unit_test(packed_bytes_are_bounded_and_must_be_whole),
        cmocka_unit_test(lines_of_a_polyglot_book_are_drawn_by_weight_and_seed),
        cmocka_unit_test(plies_cut_a_polyglot_line),
        cmocka_unit_test(books_that_are_none_are_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
