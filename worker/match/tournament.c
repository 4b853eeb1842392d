// See tournament.h.
#include "worker/match/tournament.h"

#include "server/common/str.h"

MatchPairing *tournament_pairings(TournamentKind kind, int engines, int seeds, bool reverse,
                                  int *count) {
    bool gauntlet = kind == TOURNAMENT_GAUNTLET;
    int firsts = gauntlet ? seeds : engines;
    MatchPairing *pairings = xcalloc((size_t)engines * (size_t)engines, sizeof *pairings);
    *count = 0;
    for (int a = 0; a < firsts; a++)
        for (int b = gauntlet ? seeds : a + 1; b < engines; b++)
            pairings[(*count)++] = reverse ? (MatchPairing){b, a} : (MatchPairing){a, b};
    return pairings;
}
