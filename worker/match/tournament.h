// Who plays whom in a round of a tournament.
#pragma once

#include "worker/match/match_spec.h"

typedef enum { TOURNAMENT_ROUND_ROBIN, TOURNAMENT_GAUNTLET } TournamentKind;

// The pairings of one round, in the order they are played; new. In a round robin everybody meets
// everybody; in a gauntlet the first `seeds` engines meet the others. `reverse`: the later engine
// has White first.
MatchPairing *tournament_pairings(TournamentKind kind, int engines, int seeds, bool reverse,
                                  int *count);
