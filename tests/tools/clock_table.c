// clock_table [SEED]: how much longer than its clock gives an engine can think that takes more than
// its share on every move, if each move has a margin of 200 ms, and if what it overdraws is owed,
// with a margin of 5 ms. By worker/match/clock.h, which keeps the clocks of real games.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "worker/match/clock.h"

enum { MOVES = 80, MS = 1000000, AT_RANDOM = -1 };

static uint64_t seed;

// splitmix64 (Steele, Lea and Flood 2014).
static uint64_t random_next(void) {
    uint64_t z = seed += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

// What the engine thinks in a game beyond the time that its clock gives for the moves, in ms. For
// each move it takes an equal share of that time and `over_ms` more, but never so much that it
// loses.
static double gain_ms(const MatchLimit *limit, int64_t over_ms) {
    Clock clock;
    int64_t share_ns = (limit->base_ms / MOVES + limit->increment_ms) * MS, sum_ns = 0;
    clock_init(&clock, limit);
    for (int i = 0; i < MOVES; i++) {
        int64_t over_ns = (over_ms == AT_RANDOM ? (int64_t)(random_next() % 300) : over_ms) * MS;
        int64_t allowed_ns = clock_allowed_ns(&clock);
        int64_t thought_ns = share_ns + over_ns < allowed_ns ? share_ns + over_ns : allowed_ns;
        clock_charge(&clock, thought_ns);
        sum_ns += thought_ns;
    }
    return (double)(sum_ns - (limit->base_ms + limit->increment_ms * MOVES) * MS) / MS;
}

static void print_gain(const MatchLimit *limit, int64_t over_ms) {
    double given_ms = (double)(limit->base_ms + limit->increment_ms * MOVES);
    double gain = gain_ms(limit, over_ms);
    printf("%12.1f ms %6.1f %%", gain, 100 * gain / given_ms);
}

int main(int argc, char **argv) {
    static const int64_t overs_ms[] = {0, 1, 2, 5, 10, 50, 100, 150, 200, 300, AT_RANDOM};
    static const int64_t bases_ms[] = {1000, 10000, 60000};
    uint64_t from = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    printf("%d moves, seed %" PRIu64 "\n%-7s %12s %24s %24s\n", MOVES, from, "clock", "over a move",
           "200 ms, forgiven", "5 ms, owed");
    for (int i = 0; i < 3; i++)
        for (size_t j = 0; j < sizeof overs_ms / sizeof *overs_ms; j++) {
            MatchLimit limit = {.base_ms = bases_ms[i], .increment_ms = bases_ms[i] / 100};
            char over[32] = "0-299 ms";
            if (overs_ms[j] != AT_RANDOM)
                snprintf(over, sizeof over, "%d ms", (int)overs_ms[j]);
            printf("%2d+%-4g %12s ", (int)limit.base_ms / 1000, (double)limit.increment_ms / 1000,
                   over);
            for (int owed = 0; owed < 2; owed++) {
                seed = from;
                limit.owed = owed;
                limit.margin_ms = owed ? 5 : 200;
                print_gain(&limit, overs_ms[j]);
            }
            printf("\n");
        }
    return 0;
}
