// Adds up the games that were played on after a rule of adjudication had ended them (-playon): how
// often the rule was wrong, and how much thinking time such rules save.
#pragma once

#include "server/common/str.h"
#include "worker/match/played_on.h"

typedef struct RuleAudit {
    long wins, draws;             // that the rules gave, in games with another end
    long wrong_wins, wrong_draws; // of these
    long unknown;                 // without another end
    int64_t thought_us;           // after the rule
} RuleAudit;

void rule_audit_add(RuleAudit *audit, const PlayedOn *played);
// Writes one line; nothing if no game was played on. `percent` of the games were; the engines
// thought `thought_us` in all games up to their results.
void rule_audit_report(Str *out, const RuleAudit *audit, int percent, int64_t thought_us);
