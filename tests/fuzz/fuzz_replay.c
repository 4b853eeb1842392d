// Any bytes as the games of a batch: taken or refused with a reason, whatever the counts say. The
// openings are those that the lines name, so that most games get as far as their moves.
#include <stdint.h>
#include <stdlib.h>

#include "engine/rules/position.h"
#include "server/ledger/replay.h"
#include "tests/fuzz/openings_of.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const TimeControl clocks[] = {{.base_s = 10, .increment_s = 0.1},
                                         {.moves = 40, .base_s = 10, .increment_s = 0.1},
                                         {.nodes = 1000},
                                         {.move_s = 1}};
    Error err = {0};
    rules_init();
    if (!size)
        return 0;
    json_auto_t *openings = openings_of((const char *)data + 1, size - 1);
    ReplayFacts facts = {.first_pair = 7,
                         .outcomes = data[0] & 4 ? "2" : "24",
                         .wins = data[0] & 4 ? 1 : 3,
                         .losses = 1,
                         .time_losses = data[0] >> 4 & 1,
                         .openings = openings,
                         .rules = {.draw_move = 2,
                                   .draw_count = 1,
                                   .draw_score = 20,
                                   .resign_count = 1,
                                   .resign_score = 600},
                         .clocks = {clocks[data[0] & 3], clocks[data[0] & 3]},
                         .chess960 = data[0] & 8};
    if (!replay_games((const char *)data + 1, size - 1, &facts, &err) && !err.message[0])
        abort();
    return 0;
}
