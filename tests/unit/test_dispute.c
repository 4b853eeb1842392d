// What owners' words amount to: every case of bench counts and of failures as a table, and what
// holds for any votes at all.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "../../server/dispute.h"

// "a1 b2": owner a's machine says 1, owner b's says 2.
static int parse_votes(const char *text, BenchVote *votes) {
    int count = 0;
    for (; *text; text += text[2] ? 3 : 2) {
        votes[count] = (BenchVote){.nodes = text[1] - '0', .worker = count};
        snprintf(votes[count++].owner, sizeof votes->owner, "user %c", text[0]);
    }
    return count;
}

static void bench_counts_are_settled_by_owners(void **state) {
    (void)state;
    enum { W = BENCH_WAIT, E = BENCH_ESTABLISH, T = BENCH_TIED };
    static const struct {
        const char *votes;
        int with_another, nodes_with, alone, nodes_alone; // nodes 0: not established
    } cases[] = {
        {"a1", W, 0, E, 1},
        {"a1 a1", W, 0, E, 1},
        {"a1 a2", W, 0, T, 0},
        {"a1 a1 a2", W, 0, E, 1}, // two of his three machines
        {"a2 a1 a1", W, 0, E, 1},
        {"a1 b1", E, 1, E, 1},
        {"a1 b2", W, 0, T, 0},
        {"a1 a1 a1 b2", W, 0, T, 0}, // machines do not count where owners differ
        {"a1 b2 c1", E, 1, E, 1},
        {"a2 b1 c1", E, 1, E, 1},
        {"a1 b2 c3", W, 0, T, 0},
        {"a1 b1 c2 d2", W, 0, T, 0},
        {"a1 b1 c2 d2 e1", E, 1, E, 1},
        {"a1 a2 b1", E, 1, E, 1}, // a is torn, and b agrees with one of his machines
        {"a1 a2 b3", W, 0, T, 0},
        {"a1 a2 b1 b2", W, 0, T, 0},
        {"a1 b1 b2 c2", W, 0, T, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BenchVote votes[16];
        int count = parse_votes(cases[i].votes, votes);
        BenchRuling with = bench_rule(votes, count, true), alone = bench_rule(votes, count, false);
        if ((int)with.verdict != cases[i].with_another || (int)alone.verdict != cases[i].alone)
            fail_msg("%s: %d and %d", cases[i].votes, with.verdict, alone.verdict);
        if (cases[i].nodes_with)
            assert_int_equal(with.nodes, cases[i].nodes_with);
        if (cases[i].nodes_alone)
            assert_int_equal(alone.nodes, cases[i].nodes_alone);
    }
}

static uint64_t dice = 7;

static int roll(int sides) {
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return (int)((dice >> 33) % (uint64_t)sides);
}

static int owners_for(const BenchVote *votes, int count, int64_t nodes) {
    bool seen[128] = {false};
    int owners = 0;
    for (int i = 0; i < count; i++) {
        int owner = (unsigned char)votes[i].owner[5];
        owners += votes[i].nodes == nodes && !seen[owner];
        seen[owner] |= votes[i].nodes == nodes;
    }
    return owners;
}

// One owner never decides against another, whatever the order and however many machines he has.
static void no_owner_alone_outvotes_another(void **state) {
    (void)state;
    for (int life = 0; life < 20000; life++) {
        BenchVote votes[9];
        int count = 1 + roll(9);
        bool several = false;
        for (int i = 0; i < count; i++) {
            votes[i] = (BenchVote){.nodes = 1 + roll(3)};
            snprintf(votes[i].owner, sizeof votes->owner, "user %c", 'a' + roll(4));
            several |= strcmp(votes[i].owner, votes[0].owner) != 0;
        }
        bool another = roll(2);
        BenchRuling ruling = bench_rule(votes, count, another), back;
        for (int i = 0; i < count / 2; i++) {
            BenchVote swap = votes[i];
            votes[i] = votes[count - 1 - i];
            votes[count - 1 - i] = swap;
        }
        back = bench_rule(votes, count, another);
        assert_int_equal(back.verdict, ruling.verdict);
        assert_true(ruling.verdict != BENCH_TIED || !another);
        assert_true(ruling.verdict != BENCH_WAIT || another);
        if (ruling.verdict != BENCH_ESTABLISH)
            continue;
        assert_int_equal(back.nodes, ruling.nodes);
        for (int64_t other = 1; several && other <= 3; other++)
            if (other != ruling.nodes)
                assert_true(owners_for(votes, count, ruling.nodes) >= 2 &&
                            owners_for(votes, count, ruling.nodes) >
                                owners_for(votes, count, other));
    }
}

static void failures_are_weighed_by_owners(void **state) {
    (void)state;
    static const struct {
        FailureWords words; // failing, playing, another, played
        FailureRuling ruling;
    } cases[] = {
        {{1, 0, false, false}, FAILURE_ENDS},   // the only owner, from the start
        {{1, 0, false, true}, FAILURE_PAUSES},  // the only owner, after having played
        {{1, 0, true, false}, FAILURE_GOES_ON}, // somebody else may try
        {{1, 0, true, true}, FAILURE_GOES_ON},
        {{1, 1, false, false}, FAILURE_GOES_ON}, // somebody else has played it
        {{1, 1, true, false}, FAILURE_GOES_ON},
        {{2, 0, false, false}, FAILURE_ENDS},
        {{2, 0, true, false}, FAILURE_ENDS},
        {{2, 0, true, true}, FAILURE_ENDS},
        {{2, 1, true, false}, FAILURE_ENDS}, // two of three
        {{2, 2, true, false}, FAILURE_GOES_ON},
        {{3, 2, true, true}, FAILURE_ENDS},
        {{3, 5, false, false}, FAILURE_GOES_ON},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (failure_rule(&cases[i].words) != cases[i].ruling)
            fail_msg("case %zu", i);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bench_counts_are_settled_by_owners),
        cmocka_unit_test(no_owner_alone_outvotes_another),
        cmocka_unit_test(failures_are_weighed_by_owners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
