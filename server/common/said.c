// See said.h.
#include "server/common/said.h"

const char *const said_names[SAID_KINDS] = {"illegal_pv", "other_move", "false_mate", "no_score"};
const char *const said_words[SAID_KINDS] = {"an illegal move in the PV",
                                            "a PV that begins with another move",
                                            "a mate that does not hold", "no score or no depth"};

void said_add(Said *sum, const Said *more) {
    sum->moves += more->moves;
    for (int i = 0; i < SAID_KINDS; i++)
        sum->wrong[i] += more->wrong[i];
}

int said_wrong(const Said *said) {
    int sum = 0;
    for (int i = 0; i < SAID_KINDS; i++)
        sum += said->wrong[i];
    return sum;
}
