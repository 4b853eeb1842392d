// Game files: what is written is read, and nothing else is.

#include "tests/unit/rules/rules_kit.h"

#include <stdlib.h>

#include "engine/base/checksum.h"
#include "engine/learn/gamefile.h"

enum { FILE_MAX = 1 << 18, GAMES = 5 };

static const GameFileHeader HEADER = {.engine = "Anvil, bench 6 = 12345",
                                      .limit = "nodes 5000, at most 100000, hash 8 MB",
                                      .net = "none",
                                      .openings = "8-9 random plies, |score| <= 400",
                                      .ends = "|score| >= 1500 for 4 plies",
                                      .seed = 900719925474099,
                                      .first = 12000};

// A file in memory, and where its records end.
typedef struct Bytes {
    uint8_t at[FILE_MAX];
    size_t size, ends[GAMES + 1]; // ends[0]: of the header
} Bytes;

static Bytes *bytes;
static GameReader *reader;
static GameFileRecord *game, *again;

static void random_game(uint64_t *random, const char *fen, int plies, GameFileRecord *out) {
    Position pos = position_of(fen);
    out->start = pos;
    out->result = (int)(random_word(random) % 3);
    for (out->plies = 0; out->plies < plies; out->plies++) {
        MoveList list;
        Undo undo;
        movegen_legal(&pos, &list);
        if (list.size == 0)
            return;
        int score = (int)(random_word(random) % (2 * SCORE_MATE + 1)) - SCORE_MATE;
        Move move = list.moves[random_word(random) % (unsigned)list.size];
        out->moves[out->plies] = (ScoredMove){move, (int16_t)score};
        position_make(&pos, move, &undo);
    }
}

static void bytes_begin(void) {
    bytes->size = gamefile_write_header(&HEADER, (char *)bytes->at);
    bytes->ends[0] = bytes->size;
}

// A header and GAMES games, from the same numbers each time.
static void bytes_make(void) {
    uint64_t random = 7;
    bytes_begin();
    for (int i = 0; i < GAMES; i++) {
        random_game(&random, lively_fens[i], 20 + i, game);
        bytes->size += gamefile_write_game(game, bytes->at + bytes->size);
        bytes->ends[i + 1] = bytes->size;
    }
}

static void open_bytes(size_t size) {
    Refusal err;
    FILE *in = fmemopen(bytes->at, size, "rb");
    assert_non_null(in);
    if (!game_reader_open_stream(reader, in, &err))
        fail_msg("%s", err.message);
}

// Reads to the end; the reader keeps how many games were whole.
static GameReadStatus read_all(size_t size, Refusal *err) {
    GameReadStatus status;
    open_bytes(size);
    while ((status = game_reader_next(reader, again, err)) == GAME_READ)
        ;
    game_reader_close(reader);
    return status;
}

static void same_game(const GameFileRecord *a, const GameFileRecord *b) {
    char fens[2][FEN_MAX];
    assert_string_equal(position_to_fen(&a->start, fens[0]), position_to_fen(&b->start, fens[1]));
    assert_int_equal(a->result, b->result);
    assert_int_equal(a->plies, b->plies);
    assert_memory_equal(a->moves, b->moves, (size_t)a->plies * sizeof *a->moves);
}

// ---- whole files -------------------------------------------------------------------------------

static void a_game_written_is_the_game_read(void **state) {
    (void)state;
    uint64_t random = 7;
    Refusal err;
    bytes_make();
    open_bytes(bytes->size);
    for (int i = 0; i < GAMES; i++) {
        random_game(&random, lively_fens[i], 20 + i, game);
        assert_int_equal(game_reader_next(reader, again, &err), GAME_READ);
        same_game(game, again);
        assert_int_equal(reader->offset, bytes->ends[i + 1]);
    }
    assert_int_equal(game_reader_next(reader, again, &err), GAME_END);
    assert_int_equal(reader->games, GAMES);
    game_reader_close(reader);
}

static void the_header_comes_back_field_by_field(void **state) {
    (void)state;
    bytes_make();
    open_bytes(bytes->size);
    assert_string_equal(reader->header.engine, HEADER.engine);
    assert_string_equal(reader->header.limit, HEADER.limit);
    assert_string_equal(reader->header.net, HEADER.net);
    assert_string_equal(reader->header.openings, HEADER.openings);
    assert_string_equal(reader->header.ends, HEADER.ends);
    assert_int_equal(reader->header.seed, HEADER.seed);
    assert_int_equal(reader->header.first, HEADER.first);
    game_reader_close(reader);
}

static void the_longest_game_fits(void **state) {
    (void)state;
    static const char *const dance[] = {"g1f3", "g8f6", "f3g1", "f6g8"};
    Refusal err;
    Position pos = position_of(POSITION_START_FEN);
    *game = (GameFileRecord){.start = pos, .result = 1, .plies = GAMEFILE_PLIES_MAX};
    for (int i = 0; i < GAMEFILE_PLIES_MAX; i++) {
        Square from = square_make(dance[i % 4][0] - 'a', dance[i % 4][1] - '1');
        Square to = square_make(dance[i % 4][2] - 'a', dance[i % 4][3] - '1');
        game->moves[i] = (ScoredMove){move_make(from, to), (int16_t)i};
    }
    bytes_begin();
    size_t size = gamefile_write_game(game, bytes->at + bytes->size);
    assert_true(size <= GAMEFILE_RECORD_MAX);
    bytes->size += size;
    open_bytes(bytes->size);
    assert_int_equal(game_reader_next(reader, again, &err), GAME_READ);
    same_game(game, again);
    game_reader_close(reader);
}

static void plies_are_counted_from_the_start_of_the_game(void **state) {
    (void)state;
    game->start = position_of("4k3/8/8/8/8/8/8/4K2R b - - 0 5");
    assert_int_equal(game_record_ply(game, 0), 9);
    assert_int_equal(game_record_ply(game, 7), 16);
    game->start = position_of("4k3/8/8/8/8/8/8/4K2R w - - 0 1");
    assert_int_equal(game_record_ply(game, 0), 0);
}

static void quiet_is_no_check_no_capture_and_no_promotion(void **state) {
    (void)state;
    static const struct {
        const char *fen, *move;
        bool is_quiet;
    } rows[] = {
        {"4k3/8/8/8/8/8/8/4K2R w K - 0 1", "h1h5", true},
        {"4k3/8/8/8/8/8/8/4K2R w K - 0 1", "h1h8", true}, // gives check, but stands in none
        {"4k2r/8/8/8/8/8/8/4K2R w K - 0 1", "h1h8", false},
        {"4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", "e1d1", false},
        {"8/P3k3/8/8/8/8/8/4K3 w - - 0 1", "a7a8", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Position pos = position_of(rows[i].fen);
        Square from = square_make(rows[i].move[0] - 'a', rows[i].move[1] - '1');
        Square to = square_make(rows[i].move[2] - 'a', rows[i].move[3] - '1');
        Move move = piece_type(pos.board[from]) == PAWN ? move_make_promotion(from, to, QUEEN)
                                                        : move_make(from, to);
        if (scored_move_is_quiet(&pos, move) != rows[i].is_quiet)
            fail_msg("%s of %s", rows[i].move, rows[i].fen);
    }
}

// ---- damage ------------------------------------------------------------------------------------

static void a_cut_file_gives_the_games_before_the_cut(void **state) {
    (void)state;
    Refusal err;
    bytes_make();
    for (size_t size = bytes->ends[0]; size <= bytes->size; size++) {
        unsigned whole = 0;
        while (whole < GAMES && bytes->ends[whole + 1] <= size)
            whole++;
        GameReadStatus status = read_all(size, &err);
        assert_int_equal(reader->games, whole);
        assert_int_equal(reader->offset, bytes->ends[whole]);
        assert_int_equal(status, size == bytes->ends[whole] ? GAME_END : GAME_DAMAGED);
        if (status == GAME_DAMAGED)
            assert_non_null(strstr(err.message, "the file ends within the record"));
    }
}

static void one_bit_changed_ends_the_file_where_it_is(void **state) {
    (void)state;
    Refusal err;
    bytes_make();
    for (size_t at = bytes->ends[0]; at < bytes->size; at++) {
        unsigned before = 0;
        while (bytes->ends[before + 1] <= at)
            before++;
        bytes->at[at] ^= (uint8_t)(1 << at % 8);
        assert_int_equal(read_all(bytes->size, &err), GAME_DAMAGED);
        assert_int_equal(reader->games, before);
        bytes->at[at] ^= (uint8_t)(1 << at % 8);
    }
    assert_int_equal(read_all(bytes->size, &err), GAME_END);
}

static void a_reason_names_the_place(void **state) {
    (void)state;
    Refusal err;
    char place[64];
    bytes_make();
    bytes->at[bytes->ends[2] + 20] ^= 1;
    read_all(bytes->size, &err);
    snprintf(place, sizeof place, "record at byte %zu, after 2 games", bytes->ends[2]);
    assert_non_null(strstr(err.message, place));
}

// ---- records whose sum is right ----------------------------------------------------------------

// Offsets in the payload of a record from the start position: its FEN has 56 letters.
enum { FEN_END = 56, RESULT_AT = 57, PLIES_AT = 58, MOVE_AT = 60, SCORE_AT = 62 };

static void payload_sum(uint8_t *record, size_t size) {
    uint32_t sum = checksum_crc32(0, record + 8, size);
    for (int i = 0; i < 4; i++) {
        record[i] = (uint8_t)(size >> 8 * i);
        record[4 + i] = (uint8_t)(sum >> 8 * i);
    }
}

static void what_no_game_can_hold_is_refused(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
        const char *reason;
    } rows[] = {
        {0, 'x', "'x' on rank 8 is no piece"},   {FEN_END, ' ', "text after the last field"},
        {RESULT_AT, 3, "3 is not a result"},     {PLIES_AT, 3, "a wrong size for 3 plies"},
        {PLIES_AT + 1, 0xff, "too many plies"},  {MOVE_AT, 0x3f, "move 0 (0x"},
        {SCORE_AT + 1, 0x7f, "is out of range"}, {SCORE_AT + 1, 0x80, "is out of range"},
    };
    Refusal err;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bytes_begin();
        *game = (GameFileRecord){.start = position_of(POSITION_START_FEN), .result = 1, .plies = 2};
        game->moves[0] = (ScoredMove){move_make(12, 28), 30};
        game->moves[1] = (ScoredMove){move_make(52, 36), 25};
        uint8_t *record = bytes->at + bytes->size;
        size_t size = gamefile_write_game(game, record);
        assert_int_equal(record[8 + FEN_END], 0);
        record[8 + rows[i].at] = rows[i].value;
        payload_sum(record, size - 8);
        assert_int_equal(read_all(bytes->size + size, &err), GAME_DAMAGED);
        if (!strstr(err.message, rows[i].reason))
            fail_msg("row %zu: %s", i, err.message);
    }
}

static void a_length_beyond_any_game_is_refused_unread(void **state) {
    (void)state;
    Refusal err;
    bytes_begin();
    memcpy(bytes->at + bytes->size, "\xff\xff\xff\xff\0\0\0\0", 8);
    assert_int_equal(read_all(bytes->size + 8, &err), GAME_DAMAGED);
    assert_non_null(strstr(err.message, "a game cannot have 4294967295 bytes"));
}

static void records_shorter_than_their_parts_are_refused(void **state) {
    (void)state;
    Refusal err;
    for (size_t size = 0; size < 60; size++) {
        bytes_begin();
        *game = (GameFileRecord){.start = position_of(POSITION_START_FEN)};
        uint8_t *record = bytes->at + bytes->size;
        gamefile_write_game(game, record);
        payload_sum(record, size);
        assert_int_equal(read_all(bytes->size + 8 + size, &err), GAME_DAMAGED);
    }
}

// ---- headers -----------------------------------------------------------------------------------

#define REST "limit l\nnet n\nopenings o\n"

static void headers_are_refused_with_a_reason(void **state) {
    (void)state;
    static const struct {
        const char *text, *reason;
    } rows[] = {
        {"anvil gamesters", "its first line is not 'anvil games 1'"},
        {"anvil", "its first line is not"},
        {"anvil games 2\n\n", "its first line is not"},
        {"anvil games 12\nengine e\nseed 1\nfirst 0\n" REST "\n", "its first line is not"},
        {"anvil games 1\nengine e\nseed 1\nfirst 0\n" REST, "does not end"},
        {"anvil games 1\n\n", "no line 'engine'"},
        {"anvil games 1\nengine e\nfirst 0\n" REST "\n", "no line 'seed'"},
        {"anvil games 1\nengine e\nseed -1\nfirst 0\n" REST "\n", "'seed' of the header"},
        {"anvil games 1\nengine e\nseed 1\nfirst x\n" REST "\n", "'first' of the header"},
        {"anvil games 1\nengine "
         "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
         "eeeeeeeeeeeeee\nseed 1\nfirst 0\n" REST "\n",
         "'engine' of the header"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Refusal err;
        size_t size = strlen(rows[i].text);
        memcpy(bytes->at, rows[i].text, size);
        assert_false(game_reader_open_stream(reader, fmemopen(bytes->at, size, "rb"), &err));
        if (!strstr(err.message, rows[i].reason))
            fail_msg("row %zu: %s", i, err.message);
    }
}

static void lines_of_later_versions_are_passed_over(void **state) {
    (void)state;
    const char text[] = "anvil games 1\ncolour blue\nengine e f\nseed 1\nfirst 0\n" REST "\n";
    memcpy(bytes->at, text, sizeof text);
    open_bytes(sizeof text - 1);
    assert_string_equal(reader->header.engine, "e f");
    game_reader_close(reader);
}

static void the_first_files_did_not_say_how_games_end(void **state) {
    (void)state;
    const char text[] = "anvil games 1\nengine e\nseed 1\nfirst 0\n" REST "\n";
    bytes_make();
    open_bytes(bytes->size); // what is left of another header must not show
    game_reader_close(reader);
    memcpy(bytes->at, text, sizeof text);
    open_bytes(sizeof text - 1);
    assert_string_equal(reader->header.ends, "");
    game_reader_close(reader);
}

static void a_header_without_end_is_given_up(void **state) {
    (void)state;
    Refusal err;
    memset(bytes->at, 'x', FILE_MAX);
    memcpy(bytes->at, "anvil games 1\n", 14);
    assert_false(game_reader_open_stream(reader, fmemopen(bytes->at, FILE_MAX, "rb"), &err));
    assert_non_null(strstr(err.message, "does not end within 2048 bytes"));
    memset(bytes->at + 14, 0, 1);
    memcpy(bytes->at + 100, "\n\n", 2);
    assert_false(game_reader_open_stream(reader, fmemopen(bytes->at, FILE_MAX, "rb"), &err));
    assert_non_null(strstr(err.message, "a NUL at byte 14"));
}

static void a_file_that_is_not_there_is_refused(void **state) {
    (void)state;
    Refusal err;
    assert_false(game_reader_open(reader, "/nonexistent/games.anvil", &err));
    assert_non_null(strstr(err.message, "cannot be opened"));
    if (game_reader_open(reader, "/", &err))
        fail_msg("a folder was read");
}

int main(void) {
    rules_init();
    bytes = calloc(1, sizeof *bytes);
    reader = calloc(1, sizeof *reader);
    game = calloc(1, sizeof *game);
    again = calloc(1, sizeof *again);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_game_written_is_the_game_read),
        cmocka_unit_test(the_header_comes_back_field_by_field),
        cmocka_unit_test(the_longest_game_fits),
        cmocka_unit_test(plies_are_counted_from_the_start_of_the_game),
        cmocka_unit_test(quiet_is_no_check_no_capture_and_no_promotion),
        cmocka_unit_test(a_cut_file_gives_the_games_before_the_cut),
        cmocka_unit_test(one_bit_changed_ends_the_file_where_it_is),
        cmocka_unit_test(a_reason_names_the_place),
        cmocka_unit_test(what_no_game_can_hold_is_refused),
        cmocka_unit_test(a_length_beyond_any_game_is_refused_unread),
        cmocka_unit_test(records_shorter_than_their_parts_are_refused),
        cmocka_unit_test(headers_are_refused_with_a_reason),
        cmocka_unit_test(lines_of_later_versions_are_passed_over),
        cmocka_unit_test(the_first_files_did_not_say_how_games_end),
        cmocka_unit_test(a_header_without_end_is_given_up),
        cmocka_unit_test(a_file_that_is_not_there_is_refused),
    };
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    free(bytes);
    free(reader);
    free(game);
    free(again);
    return status;
}
