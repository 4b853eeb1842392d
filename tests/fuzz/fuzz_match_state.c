// Any bytes as the state of a match: refused with a reason, or scores and sizes that make sense.
#include <stdint.h>
#include <stdlib.h>

#include "worker/match_cli/args.h"
#include "worker/match_cli/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    MatchState state;
    Error err = {0};
    if (!match_state_parse(&state, (const char *)data, size, &err)) {
        if (!err.message[0])
            abort();
        match_state_release(&state);
        return 0;
    }
    if (state.pairs < 0 || state.score_count < 1 || !state.scores)
        abort();
    for (int i = 0; i < state.score_count; i++) {
        const MatchScore *score = &state.scores[i];
        if (score->first < 0 || score->first >= MATCH_ENGINES_MAX || score->second < 0 ||
            score->second >= MATCH_ENGINES_MAX || score->wins < 0 || !(score->pairs[2] >= 0))
            abort();
    }
    for (int i = 0; i < MATCH_STATE_FILES; i++)
        if (state.sizes[i] < 0)
            abort();
    if (!match_state_same(&state, state.settings, &err))
        abort();
    match_state_release(&state);
    return 0;
}
