// The match runner: it plays pairs of games between engines and checks every move itself. Each slot
// is a thread that plays one game at a time. The engines and the referee of a game share their
// CPUs. `build/match` and the worker use the same code. The runner trusts no engine: a fault loses
// that game and affects nothing else.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/common/error.h"
#include "worker/match/match_spec.h"

typedef struct Match Match;

// Plays the whole match and returns when all engine processes have ended. False: the match cannot
// be played (an engine never answered `uci`, a program does not exist, an opening is not valid).
// Games that had ended before were reported.
bool match_run(Match *match, Error *err);
// New. Copies the struct and borrows the objects to which it points.
Match *match_new(const MatchSpec *spec);
void match_free(Match *match);
// Both are async-signal-safe and may be called by any thread. match_finish() starts no further
// pair, unless it belongs together with one that was started; running pairs are finished.
// match_abort() kills all engines at once; running games are reported as GAME_END_ABORTED or not at
// all.
void match_finish(Match *match);
void match_abort(Match *match);
// The first pair of which no game was started. Any thread may call it, and callbacks may.
int match_next_pair(const Match *match);
// The plies that all slots have played so far. Any thread may call it.
uint64_t match_plies(const Match *match);
