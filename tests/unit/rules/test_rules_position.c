// Make and unmake: what they keep up move by move is what the pieces say from scratch.

#include "engine/rules/bitboard.h"
#include "tests/unit/rules/rules_kit.h"

static void check_consistency(const Position *pos) {
    Position fresh = *pos;
    Bitboard white = 0;
    position_refresh(&fresh);
    assert_true(fresh.key == pos->key);
    assert_true(fresh.pawn_key == pos->pawn_key);
    assert_true(fresh.checkers == pos->checkers);
    for (Square s = 0; s < SQUARE_NB; s++) {
        Piece piece = pos->board[s];
        bool occupied = position_occupied(pos) & square_bb(s);
        assert_true(occupied == (piece != NO_PIECE));
        if (!occupied)
            continue;
        assert_true(pos->by_type[piece_type(piece)] & square_bb(s));
        assert_true(pos->by_color[piece_color(piece)] & square_bb(s));
        white |= piece_color(piece) == WHITE ? square_bb(s) : 0;
    }
    assert_true(white == pos->by_color[WHITE]);
}

// What FEN shows must also be what FEN reads: key and all, since FEN leaves nothing out.
static void check_through_fen(const Position *pos) {
    char fen[FEN_MAX];
    Position read;
    Refusal err;
    assert_true(position_from_fen(&read, position_to_fen(pos, fen), pos->chess960, &err));
    assert_true(read.key == pos->key);
    assert_true(read.pawn_key == pos->pawn_key);
    assert_int_equal(read.rule50, pos->rule50);
    assert_int_equal(read.fullmove, pos->fullmove);
}

static void check_every_move(Position *pos) {
    Position before = *pos;
    MoveList list;
    movegen_legal(pos, &list);
    for (int i = 0; i < list.size; i++) {
        Undo undo;
        position_make(pos, list.moves[i], &undo);
        check_consistency(pos);
        position_unmake(pos, list.moves[i], &undo);
        assert_memory_equal(pos, &before, sizeof before);
    }
    check_through_fen(pos);
}

static void keys_and_checkers_are_those_from_scratch_and_unmake_restores_all(void **state) {
    (void)state;
    random_walks(120, check_every_move);
}

static void check_null(Position *pos) {
    if (pos->checkers)
        return;
    Position before = *pos;
    Undo undo;
    position_make_null(pos, &undo);
    assert_int_equal(pos->side, color_flip(before.side));
    assert_int_equal(pos->en_passant, SQUARE_NONE);
    check_consistency(pos);
    position_unmake_null(pos, &undo);
    assert_memory_equal(pos, &before, sizeof before);
}

static void a_null_move_passes_the_turn_and_comes_back(void **state) {
    (void)state;
    random_walks(400, check_null);
}

static void the_clock_stands_still_at_255(void **state) {
    (void)state;
    Position pos = position_of("4k3/8/8/8/8/8/8/R3K3 w - - 255 300");
    Undo undo;
    position_make(&pos, move_make(A1, B1), &undo);
    assert_int_equal(pos.rule50, 255);
    position_unmake(&pos, move_make(A1, B1), &undo);
    assert_int_equal(pos.rule50, 255);
}

static void transpositions_share_a_key_and_rights_tell_apart(void **state) {
    (void)state;
    Position a = position_of("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    Position b = position_of("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1");
    Position c = position_of("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQk - 0 1");
    Position d = position_of("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1");
    assert_true(a.key == b.key);
    assert_true(a.key != c.key);
    assert_true(a.key != d.key);
    assert_true(a.pawn_key == d.pawn_key);
}

static void attackers_of_both_colours_are_found_through_given_squares(void **state) {
    (void)state;
    Position pos = position_of("4k3/4r3/8/8/4N3/3P4/8/4R1K1 w - - 0 1");
    Bitboard e4 = position_attackers(&pos, 28, position_occupied(&pos));
    assert_true(e4 == (square_bb(52) | square_bb(19) | square_bb(E1)));
    // What is taken out of `occupied` blocks no more, and still attacks.
    Bitboard bare = square_bb(E1);
    assert_true(position_attackers(&pos, 60, bare) == (square_bb(52) | square_bb(E1)));
}

int main(void) {
    rules_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_and_checkers_are_those_from_scratch_and_unmake_restores_all),
        cmocka_unit_test(a_null_move_passes_the_turn_and_comes_back),
        cmocka_unit_test(the_clock_stands_still_at_255),
        cmocka_unit_test(transpositions_share_a_key_and_rights_tell_apart),
        cmocka_unit_test(attackers_of_both_colours_are_found_through_given_squares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
