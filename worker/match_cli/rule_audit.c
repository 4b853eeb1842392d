// See rule_audit.h.
#include "worker/match_cli/rule_audit.h"

void rule_audit_add(RuleAudit *audit, const PlayedOn *played) {
    RuleJudgement judgement = played_on_judge(played);
    bool draw = played->ruled == RESULT_DRAW, wrong = judgement == RULE_WRONG;
    audit->thought_us +=
        record_thought_us(played->game, played->ruled_plies, played->game->game.plies);
    if (judgement == RULE_UNKNOWN) {
        audit->unknown++;
        return;
    }
    audit->wins += !draw;
    audit->draws += draw;
    audit->wrong_wins += wrong && !draw;
    audit->wrong_draws += wrong && draw;
}

void rule_audit_report(Str *out, const RuleAudit *audit, int percent, int64_t thought_us) {
    double saved_us = (double)audit->thought_us * 100 / percent;
    long games = audit->wins + audit->draws + audit->unknown;
    if (!games)
        return;
    str_printf(out,
               "Adjudication: %ld games played on; %ld won by rule, %ld of them wrong; %ld drawn "
               "by rule, %ld of them wrong; %ld without an end; the rules saved %.1f %% of the "
               "thinking time\n",
               games, audit->wins, audit->wrong_wins, audit->draws, audit->wrong_draws,
               audit->unknown, saved_us > 0 ? 100 * saved_us / (saved_us + (double)thought_us) : 0);
}
