// The match runner: plays pairs of games between engines and judges every move itself. One thread a
// slot; a game's engines and its referee share their CPUs. The same code is `build/match` and the
// worker's core. It never trusts an engine: any fault loses that game and nothing else.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/common/error.h"
#include "worker/match/match_spec.h"

typedef struct Match Match;

// Plays the whole match and returns when no engine process is left. False: it could not start (an
// engine that never answered `uci`, no such program, an opening that is none); games played until
// then were reported.
bool match_run(Match *match, Error *err);
// New; copies the struct, borrows what it points to.
Match *match_new(const MatchSpec *spec);
void match_free(Match *match);
// Async-signal-safe, from any thread: finish = start no further pair but end those running;
// abort = kill all engines at once, running games are reported as GAME_END_ABORTED or not at all.
void match_finish(Match *match);
void match_abort(Match *match);
// The first pair of which no game was started; from any thread, callbacks too.
int match_next_pair(const Match *match);
// Plies played so far over all slots; from any thread.
uint64_t match_plies(const Match *match);
