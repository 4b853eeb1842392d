// A game that a rule of adjudication ended and that was played on, to see whether the rule was
// right. Its result remains that of the rule.
#pragma once

#include "worker/match/game_record.h"

enum { PLAYED_ON_PLIES_MAX = 400 }; // after the rule

typedef struct PlayedOn {
    const GameRecord *game; // the whole game, with its second end; borrowed
    int ruled_plies;        // the plies of the game, with its opening, when the rule ended it
    GameResult ruled;       // the rule's result
} PlayedOn;

typedef enum { RULE_RIGHT, RULE_WRONG, RULE_UNKNOWN } RuleJudgement;
// UNKNOWN: the game had no end after PLAYED_ON_PLIES_MAX plies.
RuleJudgement played_on_judge(const PlayedOn *played);
// The time that both sides thought from ply `from` up to ply `to`, in microseconds.
int64_t record_thought_us(const GameRecord *record, int from, int to);
