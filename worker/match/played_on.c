// See played_on.h.
#include "worker/match/played_on.h"

RuleJudgement played_on_judge(const PlayedOn *played) {
    if (played->game->kind == GAME_END_ADJUDICATION)
        return RULE_UNKNOWN;
    return played->game->result == played->ruled ? RULE_RIGHT : RULE_WRONG;
}

int64_t record_thought_us(const GameRecord *record, int from, int to) {
    int64_t sum = 0;
    for (int ply = from; ply < to; ply++)
        sum += record->moves[ply].time_us;
    return sum;
}
