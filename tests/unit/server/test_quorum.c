// What owners' words amount to: every case of bench counts and of failures as a table, and what
// holds for any votes at all.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "server/ledger/quorum.h"
#include "tests/kit/dice.h"

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
        {"a1 a1 a2", W, 0, E, 1}, // two of its three machines
        {"a2 a1 a1", W, 0, E, 1},
        {"a1 b1", E, 1, E, 1},
        {"a1 b2", W, 0, T, 0},
        {"a1 a1 a1 b2", W, 0, T, 0}, // machines do not count where owners differ
        {"a1 b2 c1", E, 1, E, 1},
        {"a2 b1 c1", E, 1, E, 1},
        {"a1 b2 c3", W, 0, T, 0},
        {"a1 b1 c2 d2", W, 0, T, 0},
        {"a1 b1 c2 d2 e1", E, 1, E, 1},
        {"a1 a2 b1", E, 1, E, 1}, // a is torn, and b agrees with one of its machines
        {"a1 a2 b3", W, 0, T, 0},
        {"a1 a2 b1 b2", W, 0, T, 0},
        {"a1 b1 b2 c2", W, 0, T, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BenchVote votes[16];
        int count = parse_votes(cases[i].votes, votes);
        BenchDecision with = bench_rule(votes, count, true),
                      alone = bench_rule(votes, count, false);
        if ((int)with.verdict != cases[i].with_another || (int)alone.verdict != cases[i].alone)
            fail_msg("%s: %d and %d", cases[i].votes, with.verdict, alone.verdict);
        if (cases[i].nodes_with)
            assert_int_equal(with.nodes, cases[i].nodes_with);
        if (cases[i].nodes_alone)
            assert_int_equal(alone.nodes, cases[i].nodes_alone);
    }
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

// One owner never decides against another, whatever the order and however many machines it has.
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
        BenchDecision decision = bench_rule(votes, count, another), back;
        for (int i = 0; i < count / 2; i++) {
            BenchVote swap = votes[i];
            votes[i] = votes[count - 1 - i];
            votes[count - 1 - i] = swap;
        }
        back = bench_rule(votes, count, another);
        assert_int_equal(back.verdict, decision.verdict);
        assert_true(decision.verdict != BENCH_TIED || !another);
        assert_true(decision.verdict != BENCH_WAIT || another);
        if (decision.verdict != BENCH_ESTABLISH)
            continue;
        assert_int_equal(back.nodes, decision.nodes);
        for (int64_t other = 1; several && other <= 3; other++)
            if (other != decision.nodes)
                assert_true(owners_for(votes, count, decision.nodes) >= 2 &&
                            owners_for(votes, count, decision.nodes) >
                                owners_for(votes, count, other));
    }
}

static void failures_are_weighed_by_owners(void **state) {
    (void)state;
    static const struct {
        FailureWords words; // failing, playing, another, played
        FailureDecision decision;
    } cases[] = {
        {{1, 0, false, false}, FAILURE_ENDS},   // the only owner, from the start
        {{1, 0, false, true}, FAILURE_PAUSES},  // the only owner, after having played
        {{1, 0, true, false}, FAILURE_GOES_ON}, // another owner may try
        {{1, 0, true, true}, FAILURE_GOES_ON},
        {{1, 1, false, false}, FAILURE_GOES_ON}, // another owner has played it
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
        if (failure_rule(&cases[i].words) != cases[i].decision)
            fail_msg("case %zu", i);
}

// ---- levels and networks ------------------------------------------------------------------------

// Owners A to Q are vouched for, R to Z recorded, a to z unproven.
static OwnerLevel level_of(char letter) {
    return letter >= 'a' ? LEVEL_UNPROVEN : letter >= 'R' ? LEVEL_RECORDED : LEVEL_VOUCHED;
}

static char lower(char letter) {
    return letter < 'a' ? (char)(letter + 32) : letter;
}

// "A1n b2m": the vouched owner a says 1 from network n, the unproven owner b says 2 from m.
static int parse_placed(const char *text, BenchVote *votes) {
    int count = 0;
    for (; *text; text += text[3] ? 4 : 3) {
        votes[count] = (BenchVote){.nodes = text[1] - '0', .level = level_of(text[0])};
        snprintf(votes[count].owner, sizeof votes->owner, "user %c", lower(text[0]));
        snprintf(votes[count++].network, sizeof votes->network, "%c", text[2]);
    }
    return count;
}

static void votes_are_weighed_by_levels_and_networks(void **state) {
    (void)state;
    enum { W = BENCH_WAIT, E = BENCH_ESTABLISH, T = BENCH_TIED };
    static const BenchScene alone = {false, false, false}, watched = {true, true, true};
    static const struct {
        const char *votes;
        int alone, watched, nodes; // nodes 0: nothing is established
    } cases[] = {
        {"a6x b6y", W, W, 0},     // two that are unproven
        {"a6x b6x c1y", T, W, 0}, // so these are two who differ, as a and b are one
        {"a6x b6y C1z", E, W, 1}, // a vouched one outweighs any number
        {"A1x b6y c6z d6w", E, W, 1},
        {"A1x B1y c6z", E, E, 1},
        {"A1x B1x c6z", E, W, 1}, // two in one network are one
        {"A1x B2y c2z d2w", T, W, 0},
        {"A1x B2y C1z", E, E, 1},
        {"R1x", W, W, 0},         // one with a record alone
        {"R1x S1y", E, W, 1},     // two, unless a vouched owner could be asked
        {"R1x S1x", W, W, 0},     // who are one
        {"R1x S1y A2z", T, W, 0}, // or one contradicts
        {"R1x S1y A1z", E, E, 1},
        {"R2x S1y A1z", E, E, 1},
        {"R1x a1y b1z", W, W, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BenchVote votes[16];
        int count = parse_placed(cases[i].votes, votes);
        BenchDecision a = bench_weigh(votes, count, &alone),
                      b = bench_weigh(votes, count, &watched);
        if ((int)a.verdict != cases[i].alone || (int)b.verdict != cases[i].watched)
            fail_msg("%s: %d %d", cases[i].votes, a.verdict, b.verdict);
        if (cases[i].nodes)
            assert_int_equal(a.nodes, cases[i].nodes);
    }
}

// "Afx bpy ctz": a, which is vouched for, fails; b plays; c could try; in networks x, y, z. f with
// p: F.
static int parse_voices(const char *text, Voice *voices) {
    int count = 0;
    for (; *text; text += text[3] ? 4 : 3) {
        Voice *voice = &voices[count++];
        *voice = (Voice){.level = level_of(text[0]),
                         .failing = text[1] == 'f' || text[1] == 'F',
                         .played = text[1] == 'p' || text[1] == 'F',
                         .could_try = text[1] == 't' || text[1] == 'p'};
        snprintf(voice->owner, sizeof voice->owner, "user %c", lower(text[0]));
        snprintf(voice->network, sizeof voice->network, "%c", text[2]);
    }
    return count;
}

static void invented_failures_pause_a_test_at_most(void **state) {
    (void)state;
    enum { G = FAILURE_GOES_ON, E = FAILURE_ENDS, P = FAILURE_PAUSES };
    static const struct {
        const char *voices;
        int decision;
    } cases[] = {
        {"afx", P},             // no owner has a record, no other owner is there
        {"afx bty", G},         // another owner may try
        {"afx bfy", P},         // two agree
        {"afx bfy cfz dpw", P}, // three against one who plays, and none has a record
        {"afx bfx cfx dpw", G}, // these three are one
        {"afx bfy cfz Dpw", G}, // a proven one has played it
        {"afx bfy cfz Dtw", G}, // or is there to try
        {"Afx", E},             // alone, and vouched for
        {"AFx", P},             // it had played it
        {"Afx Bty", G},         // another may try
        {"Afx Rty", G},
        {"Afx bty", E},     // one whose word changes nothing is not waited for
        {"Afx Bfy", E},     // two
        {"Afx Bfx Cty", G}, // one, as it is one network
        {"Rfx", P},         // one with a record alone
        {"Rfx Sty", G},
        {"Rfx Sfy", E},     // two
        {"Rfx Sfx", P},     // who are one
        {"Rfx Sfy Atz", G}, // a vouched owner could be asked
        {"Rfx Sfy Apz", G}, // or plays it
        {"Rfx Sfy Tpz", E},
        {"Rfx Afy", E},
        {"Afx Bfy cpz dpw epv", E}, // results of owners without a record change nothing
        {"Afx bfy cfz Dpw", G},     // one against one: those without are not counted
        {"Afx Bfy Cpz", E},
        {"Apx afx", G}, // an unproven account in the network of a vouched one
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Voice voices[16];
        int count = parse_voices(cases[i].voices, voices);
        FailureDecision decision = failure_weigh_voices(voices, count);
        if ((int)decision != cases[i].decision)
            fail_msg("%s: %d", cases[i].voices, decision);
    }
}

// Whatever unproven owners say, in any number and from any networks. And whatever recorded ones say
// while a vouched owner plays the test or could try it.
static void lesser_owners_never_end_a_test(void **state) {
    (void)state;
    for (int life = 0; life < 20000; life++) {
        Voice voices[12];
        bool watched[3] = {false};
        OwnerLevel failing = life % 2 ? LEVEL_UNPROVEN : LEVEL_RECORDED;
        int count = 1 + roll(12);
        for (int i = 0; i < count; i++) {
            OwnerLevel level = (OwnerLevel)roll(3);
            voices[i] = (Voice){.level = level,
                                .failing = level <= failing && roll(2),
                                .played = roll(2),
                                .could_try = roll(2)};
            snprintf(voices[i].owner, sizeof voices->owner, "user %d", i);
            snprintf(voices[i].network, sizeof voices->network, "%d", roll(6));
            for (OwnerLevel least = 0; least <= level; least++)
                watched[least] |= !voices[i].failing && (voices[i].played || voices[i].could_try);
        }
        FailureDecision decision = failure_weigh_voices(voices, count);
        if (failing == LEVEL_UNPROVEN || watched[LEVEL_VOUCHED])
            assert_true(decision != FAILURE_ENDS);
        if (failing == LEVEL_UNPROVEN && watched[LEVEL_RECORDED])
            assert_true(decision == FAILURE_GOES_ON);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bench_counts_are_settled_by_owners),
        cmocka_unit_test(no_owner_alone_outvotes_another),
        cmocka_unit_test(failures_are_weighed_by_owners),
        cmocka_unit_test(votes_are_weighed_by_levels_and_networks),
        cmocka_unit_test(invented_failures_pause_a_test_at_most),
        cmocka_unit_test(lesser_owners_never_end_a_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
