// Any bytes as the games of a batch: taken or refused with a reason, whatever the counts say.
#include <stdint.h>
#include <stdlib.h>

#include "engine/rules/position.h"
#include "server/ledger/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const clocks[] = {"10.000+0.100", "40/10+0.1", "nodes=1000", "soon"};
    Error err = {0};
    rules_init();
    if (!size)
        return 0;
    ReplayFacts facts = {.first_pair = 7,
                         .outcomes = data[0] & 4 ? "2" : "24",
                         .time_losses = data[0] >> 4 & 1,
                         .tc = clocks[data[0] & 3],
                         .chess960 = data[0] & 8};
    if (!replay_games((const char *)data + 1, size - 1, &facts, &err) && !err.message[0])
        abort();
    return 0;
}
