// See time_scale.h.
#include "worker/match/time_scale.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static int64_t to_ms(double seconds) {
    return llround(seconds * 1000);
}

bool limit_parse(const char *text, MatchLimit *out, Error *err) {
    TimeControl tc;
    *out = (MatchLimit){0};
    if (!tc_parse(text, &tc, err))
        return false;
    *out = (MatchLimit){.base_ms = to_ms(tc.base_s),
                        .increment_ms = to_ms(tc.increment_s),
                        .moves_to_go = tc.moves,
                        .move_ms = to_ms(tc.move_s),
                        .nodes = tc.nodes,
                        .depth = tc.depth};
    return true;
}

bool limit_is_scaled(const MatchLimit *limit) {
    return limit->base_ms > 0 || limit->move_ms > 0;
}

static int64_t scaled(int64_t ms, double factor) {
    return ms == 0 ? 0 : (int64_t)fmax(1, llround((double)ms * factor));
}

void limit_scale(MatchLimit *limit, double factor) {
    limit->base_ms = scaled(limit->base_ms, factor);
    limit->increment_ms = scaled(limit->increment_ms, factor);
    limit->move_ms = scaled(limit->move_ms, factor);
}

char *limit_text(const MatchLimit *limit, char out[TC_TEXT_MAX]) {
    char moves[16] = "";
    if (limit->moves_to_go)
        snprintf(moves, sizeof moves, "%d/", limit->moves_to_go);
    if (limit->nodes)
        snprintf(out, TC_TEXT_MAX, "nodes=%" PRId64, limit->nodes);
    else if (limit->depth)
        snprintf(out, TC_TEXT_MAX, "depth=%d", limit->depth);
    else if (limit->move_ms)
        snprintf(out, TC_TEXT_MAX, "st=%.3f", (double)limit->move_ms / 1000);
    else
        snprintf(out, TC_TEXT_MAX, "%s%.3f+%.3f", moves, (double)limit->base_ms / 1000,
                 (double)limit->increment_ms / 1000);
    return out;
}

ScaleVerdict scale_factor(const Scale *scale, double measured_speed, double *factor) {
    double exact = scale->reference_speed / measured_speed;
    *factor = fmin(fmax(exact, scale->min), scale->max);
    return exact > scale->max ? SCALE_TOO_SLOW : SCALE_FINE;
}
