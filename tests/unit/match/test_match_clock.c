// What an engine gains by thinking longer than its clock allows: at most its margin, once a game.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "worker/match/clock.h"

enum { MOVES = 200, MS = 1000000 };

static const MatchLimit limits[] = {
    {.base_ms = 1000, .increment_ms = 10},
    {.base_ms = 10000, .increment_ms = 100},
    {.base_ms = 60000, .increment_ms = 600},
    {.base_ms = 60000},
    {.base_ms = 10000, .increment_ms = 100, .moves_to_go = 40},
    {.move_ms = 100},
    {.base_ms = 10000, .increment_ms = 100, .move_ms = 500},
};
enum { LIMITS = sizeof limits / sizeof *limits };

// The time that the limit gives for so many moves.
static int64_t given_ms(const MatchLimit *limit, int moves) {
    int periods = limit->moves_to_go ? (moves - 1) / limit->moves_to_go + 1 : 1;
    int64_t clock = limit->base_ms * periods + limit->increment_ms * moves;
    int64_t by_moves = limit->move_ms * moves;
    return !clock || (by_moves && by_moves < clock) ? by_moves : clock;
}

// The most that an engine which keeps to its limit may think about this move.
static int64_t fair_ns(const Clock *clock) {
    return clock_allowed_ns(clock) - clock->limit->margin_ms * MS;
}

// Thinks about every move for what is left, and `over_ns` more if that does not lose the game. The
// time of `*moves` moves; fewer than MOVES if the next one cannot be made in time.
static int64_t thinking_ns(const MatchLimit *limit, int64_t over_ns, int *moves) {
    Clock clock;
    int64_t sum = 0;
    clock_init(&clock, limit);
    for (*moves = 0; *moves < MOVES; (*moves)++) {
        int64_t allowed = clock_allowed_ns(&clock), wanted = fair_ns(&clock) + over_ns;
        int64_t thought = wanted < allowed ? wanted : allowed;
        if (thought < 0)
            break;
        clock_charge(&clock, thought);
        sum += thought;
    }
    return sum;
}

static void what_is_overdrawn_is_owed(void **state) {
    (void)state;
    for (int i = 0; i < LIMITS; i++)
        for (int margin = 0; margin <= 250; margin += margin < 10 ? 1 : 60)
            for (int64_t over = 0; over <= 300 * MS; over += over < 12 * MS ? MS / 4 : 17 * MS) {
                MatchLimit limit = limits[i];
                limit.margin_ms = margin, limit.owed = true;
                int moves;
                int64_t gain = thinking_ns(&limit, over, &moves) - given_ms(&limit, moves) * MS;
                if (gain > margin * MS)
                    fail_msg("limit %d, %d ms of margin, %.2f ms over on each move: %.2f ms gained",
                             i, margin, (double)over / MS, (double)gain / MS);
            }
}

// As other match runners have it, and as `build/match` plays.
static void without_debts_every_move_gains(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        MatchLimit limit = limits[i];
        limit.margin_ms = 200;
        int moves;
        int64_t gain = thinking_ns(&limit, 200 * MS, &moves) - given_ms(&limit, moves) * MS;
        assert_int_equal(moves, MOVES);
        assert_int_equal(gain, MOVES * 200L * MS);
    }
}

static void an_engine_is_told_what_is_left(void **state) {
    (void)state;
    MatchLimit limit = {.base_ms = 1000, .increment_ms = 10, .margin_ms = 50, .owed = true};
    Clock clocks[COLOR_NB];
    Position start;
    Refusal problem;
    static Command command;
    assert_true(position_from_fen(&start, POSITION_START_FEN, false, &problem));
    for (Color side = WHITE; side <= BLACK; side++)
        clock_init(&clocks[side], &limit);
    clock_charge(&clocks[WHITE], 1050 * MS); // 40 over: 30 are still owed after the increment
    command_start(&command, &start);
    command.text[command_add_go(&command, clocks, WHITE)] = 0;
    assert_string_equal(command.text, "position startpos\ngo wtime 1 btime 1010 winc 10 binc 10\n");
    assert_int_equal(clock_allowed_ns(&clocks[WHITE]), 20 * MS);
    clock_charge(&clocks[WHITE], 0);
    assert_int_equal(clock_allowed_ns(&clocks[WHITE]), 30 * MS);
    limit = (MatchLimit){.move_ms = 100, .margin_ms = 5, .owed = true};
    clock_init(&clocks[WHITE], &limit);
    clock_charge(&clocks[WHITE], 104 * MS);
    command.text[command_add_go(&command, clocks, WHITE)] = 0;
    assert_string_equal(command.text, "position startpos\ngo movetime 96\n");
    clock_charge(&clocks[WHITE], 96 * MS);
    assert_int_equal(clock_allowed_ns(&clocks[WHITE]), 105 * MS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_overdrawn_is_owed),
        cmocka_unit_test(without_debts_every_move_gains),
        cmocka_unit_test(an_engine_is_told_what_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
