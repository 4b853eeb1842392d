// Where a match stands (worker/match_cli/state.h), and engines from an engines.json
// (worker/match_cli/engine_conf.h): what is read back, and what is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/common/file.h"
#include "worker/match_cli/args.h"
#include "worker/match_cli/engine_conf.h"
#include "worker/match_cli/state.h"

static MatchState sample(void) {
    static MatchScore scores[] = {
        {.first = 0,
         .second = 1,
         .wins = 3,
         .losses = 2,
         .draws = 1,
         .white = {1, 0, 2},
         .pairs = {0, 1, 1, 1, 0},
         .drawn_pairs = 0,
         .time_losses = {0, 2},
         .faults = {1, 0},
         .overloaded = 1},
        {.first = 0, .second = 2},
    };
    return (MatchState){.settings = json_pack("{s:s, s:s}", "seed", "5", "book", "b.epd"),
                        .command = json_pack("[s, s]", "-rounds", "7"),
                        .pairs = 3,
                        .score_count = 2,
                        .scores = scores,
                        .sizes = {100, 0, 1234567890123},
                        .verdict = SPRT_ACCEPTED};
}

static void what_is_saved_comes_back(void **state) {
    (void)state;
    char path[] = "/tmp/match-state-XXXXXX";
    MatchState out = sample(), in;
    Error err;
    bool missing;
    close(mkstemp(path));
    assert_true(match_state_save(&out, path, &err));
    assert_true(match_state_load(&in, path, &missing, &err));
    unlink(path);
    assert_int_equal(in.pairs, 3);
    assert_int_equal(in.verdict, SPRT_ACCEPTED);
    assert_int_equal(in.score_count, 2);
    assert_memory_equal(in.scores, out.scores, 2 * sizeof *out.scores);
    assert_memory_equal(in.sizes, out.sizes, sizeof out.sizes);
    assert_true(match_state_same(&in, out.settings, &err));
    assert_true(json_equal(in.command, out.command));
    out.scores = NULL;
    match_state_release(&out);
    match_state_release(&in);
    assert_false(match_state_load(&in, path, &missing, &err));
    assert_true(missing);
}

static void the_first_difference_is_named(void **state) {
    (void)state;
    MatchState own = sample();
    Error err;
    own.scores = NULL;
    json_auto_t *other = json_pack("{s:s, s:s}", "seed", "6", "book", "b.epd");
    json_auto_t *fewer = json_pack("{s:s}", "seed", "5");
    assert_false(match_state_same(&own, other, &err));
    assert_string_equal(err.message, "seed was \"5\" and is \"6\"");
    assert_false(match_state_same(&own, fewer, &err));
    assert_string_equal(err.message, "book was \"b.epd\" and is \"\"");
    match_state_release(&own);
}

// A state in which one text is replaced.
static void refuse_with(const char *text, const char *from, const char *to) {
    MatchState in;
    Error err = {0};
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("no %s in %s", from, text);
    scope(free_ptr) char *changed =
        xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    if (match_state_parse(&in, changed, strlen(changed), &err))
        fail_msg("taken with %s", to);
    assert_true(err.message[0]);
    match_state_release(&in);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    char path[] = "/tmp/match-state-XXXXXX";
    MatchState out = sample();
    Error err;
    size_t size;
    close(mkstemp(path));
    assert_true(match_state_save(&out, path, &err));
    scope(free_ptr) char *text = file_read(path, MATCH_STATE_MAX, &size, &err);
    unlink(path);
    refuse_with(text, "\"version\": 1", "\"version\": 2");
    refuse_with(text, "match state", "something");
    refuse_with(text, "\"pairs\": 3", "\"pairs\": -3");
    refuse_with(text, "\"pairs\": 3", "\"pairs\": 3.5");
    refuse_with(text, "\"verdict\": 1", "\"verdict\": 9");
    refuse_with(text, "\"-rounds\"", "7");
    refuse_with(text, "\"5\"", "5");
    refuse_with(text, "1234567890123", "-1");
    refuse_with(text, "1234567890123", "1, 2");
    refuse_with(text, "\"drawn_pairs\": 0", "\"drawn_pairs\": 2");
    out.scores = NULL;
    match_state_release(&out);
}

static const char conf[] =
    "[{\"name\": \"Other\", \"command\": \"x\"},"
    " {\"name\": \"Mine\", \"command\": \"./mine\", \"workingDirectory\": \"/w\","
    "  \"protocol\": \"uci\", \"arguments\": [\"one\", \"two words\"], \"initStrings\": [\"debug "
    "on\"],"
    "  \"restart\": \"on\", \"stderrFile\": \"e.txt\", \"options\": ["
    "   {\"name\": \"Hash\", \"value\": 64, \"default\": 16, \"type\": \"spin\"},"
    "   {\"name\": \"Style\", \"value\": \"Solid\", \"default\": \"Solid\"},"
    "   {\"name\": \"Ponder\", \"value\": false, \"default\": true},"
    "   {\"name\": \"Clear Hash\", \"type\": \"button\"}]},"
    " {\"name\": \"Old\", \"command\": \"y\", \"protocol\": \"xboard\"}]";

static bool conf_read(MatchArgs *args, EngineArgs *engine, const char *name, Error *err) {
    *args = (MatchArgs){0};
    *engine = (EngineArgs){.threads = 1};
    return engine_conf_parse(args, engine, conf, sizeof conf - 1, name, err);
}

static void an_engine_of_cutechess_is_read(void **state) {
    (void)state;
    scope(match_args_release) MatchArgs args;
    EngineArgs engine;
    Error err;
    assert_true(conf_read(&args, &engine, "Mine", &err));
    assert_string_equal(engine.name, "Mine");
    assert_string_equal(engine.command, "./mine");
    assert_string_equal(engine.directory, "/w");
    assert_string_equal(engine.errors_file, "e.txt");
    assert_string_equal(engine.init, "debug on\n");
    assert_string_equal(engine.argv[2], "two words");
    assert_true(engine.restart);
    assert_int_equal(engine.option_count, 2); // Style is at its default, a button is not pressed
    assert_string_equal(engine.options[0].value, "64");
    assert_string_equal(engine.options[1].value, "false");
}

static void engines_that_cannot_be_had_are_refused(void **state) {
    (void)state;
    scope(match_args_release) MatchArgs args, other;
    EngineArgs engine;
    Error err;
    assert_false(conf_read(&args, &engine, "Unknown", &err));
    assert_string_equal(err.message, "no engine is called Unknown");
    assert_false(conf_read(&other, &engine, "Old", &err));
    assert_string_equal(err.message, "Old uses the protocol xboard; only uci is supported");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_saved_comes_back),
        cmocka_unit_test(the_first_difference_is_named),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(an_engine_of_cutechess_is_read),
        cmocka_unit_test(engines_that_cannot_be_had_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
