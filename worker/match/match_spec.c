// See match_spec.h.
#include "worker/match/match_spec.h"

#include "worker/os/process.h"

static const char *pairing_problem(const MatchSpec *spec) {
    if (spec->pairings && spec->pairing_count < 1)
        return "a round needs a pairing";
    for (int i = 0; spec->pairings && i < spec->pairing_count; i++) {
        const MatchPairing *pairing = &spec->pairings[i];
        if (pairing->first < 0 || pairing->first >= spec->engine_count || pairing->second < 0 ||
            pairing->second >= spec->engine_count || pairing->first == pairing->second)
            return "a pairing must name two of the engines";
    }
    return NULL;
}

const char *match_spec_problem(const MatchSpec *spec) {
    if (spec->engine_count < 2)
        return "a match needs two engines";
    if (spec->games_per_pair < 1 || spec->games_per_pair > 2)
        return "a pair has one or two games";
    if (spec->slots < 1 || spec->slots > OS_CPUS_MAX)
        return "the number of games at a time must be from 1 to 1024";
    for (int i = 0; i < spec->engine_count; i++) {
        const MatchLimit *limit = &spec->engines[i].limit;
        if (limit->base_ms <= 0 && limit->increment_ms <= 0 && limit->move_ms <= 0 &&
            limit->nodes <= 0 && limit->depth <= 0)
            return "an engine without any limit would think for ever";
    }
    return pairing_problem(spec);
}
