// A match as JSON lines, for programs (README.md lists the members): a line when it starts or goes
// on, one for each game in the order of pairs, one for each report, one at the end.
#pragma once

#include <jansson.h>

#include "worker/match_cli/report.h"
#include "worker/match_cli/timing.h"

typedef struct JsonContext {
    const MatchTitle *title;
    int pairing_count, games_per_pair;
} JsonContext;

// `type` "start", "resume"; `settings` as in the state file; `pairs` in all and `from` which.
void match_json_start(Str *out, const JsonContext *context, const json_t *settings, int from,
                      int pairs);
void match_json_game(Str *out, const JsonContext *context, const GameRecord *game);
// `type` "report", or "end" with an `ending`: how it ended and how the clock was served.
typedef struct JsonEnding {
    const char *name; // "finished", "interrupted", "failed"
    const Timing *timing;
} JsonEnding;
void match_json_report(Str *out, const JsonContext *context, const MatchScore *scores, int count,
                       SprtVerdict verdict, const JsonEnding *ending);
