// Games as the server keeps them: one JSON object a line (API.md, `game`).
#pragma once

#include <stdint.h>

#include "server/common/str.h"
#include "worker/match/match_spec.h"

enum { GAMES_JSON_MAX = 64 << 20 };

typedef struct GameContext {
    const Opening *opening;
    int pair;             // number in the test
    MatchLimit limits[2]; // clock of each engine, for the time left after each move
} GameContext;

// "crash", "time", … as the API names them.
const char *game_end_name(GameEndKind kind);
// Appends one line. Only games with a result are written: GAME_END_ABORTED has none.
void games_json_add(Str *out, const GameRecord *game, const GameContext *context);
