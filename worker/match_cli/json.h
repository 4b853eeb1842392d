// A match as JSON lines, for programs (worker/MATCH.md lists the members): a line when the match
// starts or is resumed, one for each game in the order of pairs, one for each report, one at the
// end.
#pragma once

#include <jansson.h>

#include "worker/match_cli/report.h"
#include "worker/match_cli/timing.h"

typedef struct JsonContext {
    const MatchTitle *title;
    int pairing_count, games_per_pair;
} JsonContext;

// `type` "start" or "resume". `settings` are those of the state file. `from` is the first pair to
// play, `pairs` the number of pairs of the whole match.
void match_json_start(Str *out, const JsonContext *context, const json_t *settings, int from,
                      int pairs);
void match_json_game(Str *out, const JsonContext *context, const GameRecord *game);
// How the match ended, and the timing of its moves.
typedef struct JsonEnding {
    const char *name; // "finished", "interrupted", "failed"
    const Timing *timing;
} JsonEnding;
// `type` "report"; "end" if `ending` is not NULL.
void match_json_report(Str *out, const JsonContext *context, const MatchScore *scores, int count,
                       SprtVerdict verdict, const JsonEnding *ending);
