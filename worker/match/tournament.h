// The pairings of a round of a tournament.
#pragma once

#include "worker/match/match_spec.h"

typedef enum { TOURNAMENT_ROUND_ROBIN, TOURNAMENT_GAUNTLET } TournamentKind;

// The pairings of one round, in the order in which they are played; new. In a round robin each
// engine meets all others; in a gauntlet the first `seeds` engines meet the others. `reverse`: the
// later engine of a pairing has White in the first game.
MatchPairing *tournament_pairings(TournamentKind kind, int engines, int seeds, bool reverse,
                                  int *count);
