// The options of `sprt width`, and the lines that it writes.
#include "tests/unit/sprt/sprt_vectors.h"

#include "sprt/width_table.h"

#include <unistd.h>

enum { ARGS_MAX = 16 };

// Runs the table with the words of `text` as its arguments. `out` becomes what it writes to `fd`.
static int run(const char *text, int fd, char *out, size_t size) {
    char words[256], *args[ARGS_MAX], *save = NULL;
    int count = 0, kept = dup(fd);
    FILE *file = tmpfile();
    assert_non_null(file);
    snprintf(words, sizeof words, "%s", text);
    for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save))
        args[count++] = word;
    fflush(stdout);
    dup2(fileno(file), fd);
    int status = width_table(count, args);
    fflush(stdout);
    dup2(kept, fd);
    close(kept);
    rewind(file);
    out[fread(out, 1, size - 1, file)] = '\0';
    fclose(file);
    return status;
}

static void each_combination_is_a_line(void **state) {
    (void)state;
    char out[4096];
    assert_int_equal(run("--x 10 --draws 0.6 --runs 2", STDOUT_FILENO, out, sizeof out), 0);
    int lines = 0;
    for (const char *line = out; *line; line = strchr(line, '\n') + 1, lines++) {
        json_auto_t *cell = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);
        assert_non_null(cell);
        assert_near(member(cell, "draw_share"), 0.6, 1e-12);
        assert_near(member(cell, "x"), 10, 0);
        assert_true(member(cell, "pairs") >= 500);
        assert_near(member(cell, "batch"), lines % 2 ? 32 : 16, 0);
        assert_near(member(cell, "nelo"), lines / 2 % 2 ? 20 : 0, 0);
    }
    assert_int_equal(lines, 8); // two units, two differences, two batches
}

static void a_difference_that_no_pairs_have_is_null(void **state) {
    (void)state;
    char out[4096];
    const char *args = "--unit logistic --x 10 --draws 0.98 --nelo 90 --batch 16 --runs 2";
    assert_int_equal(run(args, STDOUT_FILENO, out, sizeof out), 0);
    json_auto_t *cell = json_loads(out, 0, NULL);
    assert_true(json_is_null(json_object_get(cell, "coverage")));
}

static void bad_options_are_told_what_is_wrong(void **state) {
    (void)state;
    static const char *const BAD[][2] = {
        {"--x 0", "--x must be a number from 0.1 to 100"},
        {"--x nan", "--x must be a number"},
        {"--x 3x", "--x must be a number"},
        {"--draws 1", "--draws must be a number from 0.01 to 0.999"},
        {"--nelo 101", "--nelo must be a number from -100 to 100"},
        {"--batch 1.5", "--batch must be a whole number from 1 to 4095"},
        {"--runs 0", "--runs must be a whole number"},
        {"--seed -1", "--seed must be a whole number"},
        {"--unit elo", "--unit must be logistic or normalized"},
        {"--runs 2 --x", "--x has no value"},
        {"--width 3", "--width is not an option"},
    };
    char out[4096];
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        assert_int_equal(run(BAD[i][0], STDERR_FILENO, out, sizeof out), 2);
        assert_non_null(strstr(out, BAD[i][1]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_combination_is_a_line),
        cmocka_unit_test(a_difference_that_no_pairs_have_is_null),
        cmocka_unit_test(bad_options_are_told_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
