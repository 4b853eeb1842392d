// The command line of build/match (worker/match_cli/args.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "server/common/str.h"
#include "worker/match_cli/args.h"
#include "worker/match_cli/args_engine.h"

// Splits `line` at blanks; words live until the next call.
static bool parse(MatchArgs *args, const char *line, Error *err) {
    static char copy[2048];
    static const char *words[128];
    int count = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *rest = copy, *word; (word = strsep(&rest, " "));)
        words[count++] = word;
    return match_args_parse(args, count, words, err);
}

static void controls_are_read_in_all_their_forms(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t base_ms, increment_ms;
        int moves;
    } good[] = {{"10+0.1", 10000, 100, 0}, {"40/60", 60000, 0, 40},
                {"1:30", 90000, 0, 0},     {"40/1:30.5+2", 90500, 2000, 40},
                {"0.5", 500, 0, 0},        {"0+0.01", 0, 10, 0},
                {"inf", 0, 0, 0},          {"2:0", 120000, 0, 0}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        MatchLimit limit = {.nodes = 7};
        assert_true(match_limit_parse_tc(good[i].text, &limit));
        assert_int_equal(limit.base_ms, good[i].base_ms);
        assert_int_equal(limit.increment_ms, good[i].increment_ms);
        assert_int_equal(limit.moves_to_go, good[i].moves);
        assert_int_equal(limit.nodes, 7);
    }
}

static void controls_with_anything_left_over_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "0",
                                      "x",
                                      "10+",
                                      "+1",
                                      "10+0.1s",
                                      "10 ",
                                      "-5",
                                      "1:2:3",
                                      "40/",
                                      "/60",
                                      "0/60",
                                      "40/60/1",
                                      "1e99",
                                      "10+-1",
                                      "nan",
                                      "40//60",
                                      ":",
                                      "99999999999999999999999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        MatchLimit limit;
        if (match_limit_parse_tc(bad[i], &limit))
            fail_msg("\"%s\" was taken for a time control", bad[i]);
    }
}

static void each_is_for_both_and_engine_stands_over_it(void **state) {
    (void)state;
    scope(match_args_release) MatchArgs args;
    Error err;
    assert_true(parse(&args,
                      "-engine cmd=a tc=5 option.Hash=16 -each tc=10+0.1 option.Hash=8 "
                      "option.Threads=3 -engine cmd=/x/b name=Bee",
                      &err));
    assert_int_equal(args.engines[0].limit.base_ms, 5000);
    assert_int_equal(args.engines[0].limit.increment_ms, 0);
    assert_int_equal(args.engines[1].limit.base_ms, 10000);
    assert_int_equal(args.engines[0].option_count, 2);
    assert_string_equal(args.engines[0].options[0].value, "16");
    assert_string_equal(args.engines[1].options[0].value, "8");
    assert_int_equal(args.engines[1].threads, 3);
    assert_string_equal(args.engines[0].name, "a");
    assert_string_equal(args.engines[1].name, "Bee");
    assert_string_equal(args.engines[1].argv[0], "/x/b");
}

static void arguments_of_a_program_are_kept_apart(void **state) {
    (void)state;
    scope(match_args_release) MatchArgs args;
    Error err;
    static const char *const words[] = {"-engine", "cmd=a", "args= one  two", "arg=three four",
                                        "-engine", "cmd=b", "-each",          "depth=3"};
    assert_true(match_args_parse(&args, 8, words, &err));
    assert_string_equal(args.engines[0].argv[1], "one");
    assert_string_equal(args.engines[0].argv[2], "two");
    assert_string_equal(args.engines[0].argv[3], "three four");
    assert_null(args.engines[0].argv[4]);
    assert_null(args.engines[1].argv[1]);
}

static void match_options_are_read(void **state) {
    (void)state;
    scope(match_args_release) MatchArgs args;
    Error err;
    assert_true(parse(&args,
                      "-engine cmd=a -engine cmd=b -each nodes=5000 timemargin=50 -rounds 12 "
                      "-games 2 -repeat -concurrency 3 -openings file=b.pgn order=random plies=8 "
                      "start=4 -srand 99 -draw movenumber=34 movecount=8 score=20 -resign "
                      "movecount=3 score=600 twosided=true -maxmoves 200 -variant fischerandom "
                      "-pgnout o.pgn -sprt elo0=-1.5 elo1=2 alpha=0.1 beta=0.2 model=logistic "
                      "-ratinginterval 0 -recover -use-affinity 0-3 -event E",
                      &err));
    assert_int_equal(args.rounds, 12);
    assert_int_equal(args.slots, 3);
    assert_int_equal(args.book.format, BOOK_PGN);
    assert_int_equal(args.book.plies, 8);
    assert_int_equal(args.book.start, 4);
    assert_int_equal(args.book.seed, 99);
    assert_true(args.book.random && args.book.chess960 && args.adjudication.resign_two_sided);
    assert_int_equal(args.adjudication.draw_count, 8);
    assert_int_equal(args.adjudication.resign_score, 600);
    assert_int_equal(args.engines[1].limit.margin_ms, 50);
    assert_true(args.has_sprt && args.sprt.elo0 == -1.5 && args.sprt.model == SPRT_LOGISTIC);
    assert_string_equal(args.pgn_file, "o.pgn");
}

static void refusals_name_option_key_and_value(void **state) {
    (void)state;
    static const struct {
        const char *line, *message;
    } bad[] = {
        {"-engine cmd=a tc=soon -engine cmd=b", "-engine tc=soon: tc expects"},
        {"-engine cmd=a -each depth=-1", "-each depth=-1: depth expects"},
        {"-engine cmd=a -engine cmd=b -each nodes=5 -draw score=x", "-draw score=x: score expects"},
        {"-engine cmd=a tc=1", "-engine: a match needs two engines, 1 given"},
        {"-engine cmd=a name=X -engine cmd=b name=X -each tc=1",
         "-engine: engines 1 and 2 are both called X"},
        {"-concurency 3", "-concurency: no such option; did you mean -concurrency?"},
        {"-openings fil=x", "-openings fil=x: no such key; did you mean file=?"},
        {"-each prto=uci -engine cmd=a", "-each prto=uci: no such key; did you mean proto=?"},
        {"-tb /x", "-tb: adjudication by Syzygy tables"},
        {"-sprt model=bayesian", "-sprt model=bayesian: model expects normalized or logistic;"},
        {"-engine cmd=a proto=xboard", "-engine proto=xboard: proto expects uci, the only"},
        {"-crc32 pgn=true -engine cmd=a -engine cmd=b -each st=1", "-crc32: needs -pgnout"},
        {"-engine cmd=a -engine cmd=b -engine cmd=c -each st=1 -sprt elo0=0 elo1=5",
         "-sprt: is for two engines"},
        {"-engine cmd=a -engine cmd=b -each st=1 -tournament gauntlet -seeds 2", "-seeds: must be"},
        {"-rounds -games 2", "-rounds"},
        {"-noswap 3", "-noswap 3"},
        {"rounds", "rounds: no such option; did you mean -rounds?"},
        {"-zzzzzzzzzz", "-zzzzzzzzzz: no such option; --help lists them"},
        {"-engine cmd=a -each option.Threads=many", "-each option.Threads=many: expects"},
        {"-engine cmd=a -each option.=1", "-each option.=1"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        scope(match_args_release) MatchArgs args;
        Error err;
        assert_false(parse(&args, bad[i].line, &err));
        if (strncmp(err.message, bad[i].message, strlen(bad[i].message)) != 0)
            fail_msg("\"%s\" said: %s", bad[i].line, err.message);
    }
}

static void engines_without_names_are_told_apart(void **state) {
    (void)state;
    scope(match_args_release) MatchArgs args;
    Error err;
    assert_true(parse(
        &args, "-engine cmd=x/a -engine cmd=y/a -engine cmd=b -engine cmd=a -each st=1", &err));
    assert_int_equal(args.engine_count, 4);
    assert_string_equal(args.engines[0].name, "a");
    assert_string_equal(args.engines[1].name, "a-2");
    assert_string_equal(args.engines[3].name, "a-3");
}

static void quick_brings_its_own_defaults(void **state) {
    (void)state;
    scope(match_args_release) MatchArgs args;
    Error err;
    assert_true(parse(&args, "-quick cmd=x/a cmd=b book=f.pgn.gz", &err));
    assert_int_equal(args.engines[1].limit.base_ms, 10000);
    assert_int_equal(args.rounds, 25000);
    assert_int_equal(args.book.format, BOOK_PGN);
    assert_true(args.cutechess && args.book.random && args.slots >= 1);
}

static void a_list_of_cpus_is_read(void **state) {
    (void)state;
    scope(match_args_release) MatchArgs args;
    Error err;
    assert_true(parse(&args,
                      "-engine cmd=a -engine cmd=b -each st=1 --use-affinity 0-2,8,10-10 "
                      "-concurrency -2",
                      &err));
    assert_int_equal(args.cpus.count, 5);
    assert_int_equal(args.cpus.ids[2], 2);
    assert_int_equal(args.cpus.ids[4], 10);
    assert_int_equal(args.slots, 3);
    static const char *const bad[] = {"3-1", ",", "1,,2", "-3", "1-", "9999", "1-2-3"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        scope(match_args_release) MatchArgs other;
        const char *words[] = {"-use-affinity", bad[i]};
        assert_false(match_args_parse(&other, 2, words, &err));
    }
}

static void rounds_without_a_number_depend_on_the_sprt(void **state) {
    (void)state;
    scope(match_args_release) MatchArgs plain, judged;
    Error err;
    assert_true(parse(&plain, "-engine cmd=a -engine cmd=b -each st=1 -resign score=600", &err));
    assert_int_equal(plain.rounds, 1);
    assert_int_equal(plain.adjudication.resign_count, 1);
    assert_true(parse(&judged, "-engine cmd=a -engine cmd=b -each st=1 -sprt elo0=0 elo1=5", &err));
    assert_int_equal(judged.rounds, 500000);
}

static void a_state_file_alone_is_a_command(void **state) {
    (void)state;
    static const char *const words[] = {"-config", "file=x", "-rounds", "3"};
    assert_string_equal(match_args_only_state(2, words), "x");
    assert_null(match_args_only_state(4, words));
    assert_null(match_args_only_state(1, words));
}

static void an_engine_needs_a_limit(void **state) {
    (void)state;
    scope(match_args_release) MatchArgs args;
    Error err;
    assert_false(parse(&args, "-engine cmd=a tc=inf -engine cmd=b tc=5", &err));
    assert_non_null(strstr(err.message, "cmd=a: no limit"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(controls_are_read_in_all_their_forms),
        cmocka_unit_test(controls_with_anything_left_over_are_refused),
        cmocka_unit_test(each_is_for_both_and_engine_stands_over_it),
        cmocka_unit_test(arguments_of_a_program_are_kept_apart),
        cmocka_unit_test(match_options_are_read),
        cmocka_unit_test(refusals_name_option_key_and_value),
        cmocka_unit_test(engines_without_names_are_told_apart),
        cmocka_unit_test(quick_brings_its_own_defaults),
        cmocka_unit_test(a_list_of_cpus_is_read),
        cmocka_unit_test(rounds_without_a_number_depend_on_the_sprt),
        cmocka_unit_test(a_state_file_alone_is_a_command),
        cmocka_unit_test(an_engine_needs_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
