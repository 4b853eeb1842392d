// The folder of a run of self-play: in which order games are asked for, and what an end at any
// moment leaves behind.

#include "tests/unit/rules/rules_kit.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/learn/chunks.h"

static const GameFileHeader HEADER = {
    .engine = "Anvil", .limit = "depth 1", .net = "none", .openings = "none", .seed = 4};

static char folder[64];
static Chunks *chunks;

static int folder_make(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/patchmate-chunks-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int folder_remove(void **state) {
    (void)state;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (dir)
        closedir(dir);
    return rmdir(folder);
}

static char *path_of(const char *name, char out[128]) {
    snprintf(out, 128, "%s/%s", folder, name);
    return out;
}

static long size_of(const char *name) {
    char path[128];
    struct stat status;
    return stat(path_of(name, path), &status) == 0 ? (long)status.st_size : -1;
}

// A record that tells its number: the score of its only move.
static size_t record_of(uint64_t number, uint8_t out[GAMEFILE_RECORD_MAX]) {
    static GameFileRecord game;
    game = (GameFileRecord){.start = position_of(POSITION_START_FEN), .result = 1, .plies = 1};
    game.moves[0] = (ScoredMove){move_make(12, 28), (int16_t)number};
    return gamefile_write_game(&game, out);
}

static void open_folder(uint64_t games) {
    Refusal err;
    if (!chunks_open(chunks, folder, &HEADER, games, &err))
        fail_msg("%s", err.message);
}

// Plays up to `count` of the games that were missing at the opening; returns the number of the one
// that would follow.
static uint64_t play(uint64_t count) {
    uint8_t record[GAMEFILE_RECORD_MAX];
    Refusal err;
    uint64_t number = chunks_missing(chunks, 0);
    for (; count > 0 && number < chunks->games; count--) {
        size_t size = record_of(number, record);
        if (!chunks_append(chunks, number, record, size, &err))
            fail_msg("%s", err.message);
        number = chunks_missing(chunks, number + 1);
    }
    return number;
}

// Reads a chunk and expects its games in order, `count` of them.
static void expect_chunk(const char *name, uint64_t first, uint64_t count) {
    static GameReader reader;
    static GameFileRecord game;
    char path[128];
    Refusal err;
    if (!game_reader_open(&reader, path_of(name, path), &err))
        fail_msg("%s: %s", name, err.message);
    assert_int_equal(reader.header.first, first);
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(game_reader_next(&reader, &game, &err), GAME_READ);
        assert_int_equal(game.moves[0].score, (int16_t)(first + i));
    }
    assert_int_equal(game_reader_next(&reader, &game, &err), GAME_END);
    game_reader_close(&reader);
}

// ------------------------------------------------------------------------------------------------

static void chunks_get_their_names_when_they_are_whole(void **state) {
    (void)state;
    open_folder(2300);
    assert_int_equal(play(999), 999);
    chunks_close(chunks);
    assert_int_equal(size_of("games-000000.anvil"), -1);
    assert_true(size_of("games-000000.part") > 0);
    open_folder(2300);
    assert_int_equal(play(1), 1000);
    assert_int_equal(size_of("games-000000.part"), -1);
    chunks_close(chunks);
    expect_chunk("games-000000.anvil", 0, 1000);
}

static void a_run_in_pieces_is_the_run_in_one(void **state) {
    (void)state;
    static const uint64_t pieces[] = {1, 998, 1, 5, 700, 295, 1, 299, 50};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        open_folder(2300);
        play(pieces[i]);
        chunks_close(chunks);
    }
    open_folder(2300);
    assert_int_equal(chunks_missing(chunks, 0), 2300);
    assert_int_equal(chunks_present(chunks), 2300);
    chunks_close(chunks);
    expect_chunk("games-000000.anvil", 0, 1000);
    expect_chunk("games-000001.anvil", 1000, 1000);
    expect_chunk("games-000002.anvil", 2000, 300);
    assert_int_equal(size_of("games-000002.part"), -1);
}

static void a_torn_tail_is_played_again(void **state) {
    (void)state;
    char path[128];
    open_folder(1000);
    play(10);
    chunks_close(chunks);
    uint8_t record[GAMEFILE_RECORD_MAX];
    long whole = size_of("games-000000.part"), size = (long)record_of(9, record);
    for (long cut = 1; cut <= size; cut += 5) {
        assert_int_equal(truncate(path_of("games-000000.part", path), whole - cut), 0);
        open_folder(1000);
        assert_int_equal(chunks_missing(chunks, 0), 9);
        play(1);
        chunks_close(chunks);
        assert_int_equal(size_of("games-000000.part"), whole);
        expect_chunk("games-000000.part", 0, 10);
    }
}

static void a_header_that_was_cut_is_no_file(void **state) {
    (void)state;
    char path[128];
    open_folder(20);
    play(1);
    chunks_close(chunks);
    for (off_t size = 0; size < 30; size += 7) {
        assert_int_equal(truncate(path_of("games-000000.part", path), size), 0);
        open_folder(20);
        assert_int_equal(chunks_missing(chunks, 0), 0);
        play(1);
        chunks_close(chunks);
        expect_chunk("games-000000.part", 0, 1);
    }
}

static void an_end_just_before_the_rename_is_made_good(void **state) {
    (void)state;
    char part[128], whole[128];
    open_folder(30);
    play(30);
    chunks_close(chunks);
    assert_int_equal(
        rename(path_of("games-000000.anvil", whole), path_of("games-000000.part", part)), 0);
    open_folder(30);
    assert_int_equal(chunks_missing(chunks, 0), 30);
    chunks_close(chunks);
    expect_chunk("games-000000.anvil", 0, 30);
}

static void a_longer_run_goes_on_in_the_short_chunk(void **state) {
    (void)state;
    open_folder(30);
    play(30);
    chunks_close(chunks);
    expect_chunk("games-000000.anvil", 0, 30);
    open_folder(1100);
    assert_int_equal(chunks_missing(chunks, 0), 30);
    assert_int_equal(chunks_present(chunks), 30);
    play(2000);
    chunks_close(chunks);
    expect_chunk("games-000000.anvil", 0, 1000);
    expect_chunk("games-000001.anvil", 1000, 100);
}

static void a_shorter_run_finds_its_games_there(void **state) {
    (void)state;
    open_folder(1100);
    play(1100);
    chunks_close(chunks);
    open_folder(40);
    assert_int_equal(chunks_missing(chunks, 0), 40);
    assert_int_equal(chunks_present(chunks), 40);
    chunks_close(chunks);
    expect_chunk("games-000000.anvil", 0, 1000);
}

static void a_chunk_taken_away_is_played_again(void **state) {
    (void)state;
    char path[128];
    open_folder(2500);
    play(2500);
    chunks_close(chunks);
    assert_int_equal(unlink(path_of("games-000001.anvil", path)), 0);
    open_folder(2500);
    assert_int_equal(chunks_missing(chunks, 0), 1000);
    assert_int_equal(chunks_missing(chunks, 1999), 1999);
    assert_int_equal(chunks_missing(chunks, 2000), 2500);
    play(1000);
    chunks_close(chunks);
    expect_chunk("games-000001.anvil", 1000, 1000);
    expect_chunk("games-000002.anvil", 2000, 500);
}

static void a_folder_of_another_run_is_refused_with_the_line(void **state) {
    (void)state;
    Refusal err;
    open_folder(10);
    play(3);
    chunks_close(chunks);
    GameFileHeader other = HEADER;
    other.seed = 5;
    assert_false(chunks_open(chunks, folder, &other, 10, &err));
    assert_non_null(strstr(err.message, "it has 'seed 4', this run has 'seed 5'"));
    other = HEADER;
    snprintf(other.limit, sizeof other.limit, "depth 10");
    assert_false(chunks_open(chunks, folder, &other, 10, &err));
    assert_non_null(strstr(err.message, "it has 'limit depth 1', this run has 'limit depth 10'"));
    expect_chunk("games-000000.part", 0, 3);
}

static void two_runs_do_not_share_a_folder(void **state) {
    (void)state;
    Chunks *second = calloc(1, sizeof *second);
    Refusal err;
    open_folder(10);
    assert_false(chunks_open(second, folder, &HEADER, 10, &err));
    assert_non_null(strstr(err.message, "another run is using the folder"));
    chunks_close(chunks);
    assert_true(chunks_open(second, folder, &HEADER, 10, &err));
    chunks_close(second);
    free(second);
}

static void a_folder_that_cannot_be_is_refused(void **state) {
    (void)state;
    Refusal err;
    assert_false(chunks_open(chunks, "/nonexistent/games", &HEADER, 10, &err));
    assert_non_null(strstr(err.message, "No such file"));
    assert_false(chunks_open(chunks, "/dev/null", &HEADER, 10, &err));
    assert_non_null(strstr(err.message, "Not a directory"));
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void) {
    rules_init();
    chunks = calloc(1, sizeof *chunks);
    const struct CMUnitTest tests[] = {
        IN_FOLDER(chunks_get_their_names_when_they_are_whole),
        IN_FOLDER(a_run_in_pieces_is_the_run_in_one),
        IN_FOLDER(a_torn_tail_is_played_again),
        IN_FOLDER(a_header_that_was_cut_is_no_file),
        IN_FOLDER(an_end_just_before_the_rename_is_made_good),
        IN_FOLDER(a_longer_run_goes_on_in_the_short_chunk),
        IN_FOLDER(a_shorter_run_finds_its_games_there),
        IN_FOLDER(a_chunk_taken_away_is_played_again),
        IN_FOLDER(a_folder_of_another_run_is_refused_with_the_line),
        IN_FOLDER(two_runs_do_not_share_a_folder),
        IN_FOLDER(a_folder_that_cannot_be_is_refused),
    };
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    free(chunks);
    return status;
}
