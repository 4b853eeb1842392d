// See time_scale.h.
#include "worker/match/time_scale.h"

#include <math.h>

static int64_t to_ms(double seconds) {
    return llround(seconds * 1000);
}

static MatchLimit limit_of(const TimeControl *tc) {
    return (MatchLimit){.base_ms = to_ms(tc->base_s),
                        .increment_ms = to_ms(tc->increment_s),
                        .moves_to_go = tc->moves,
                        .move_ms = to_ms(tc->move_s),
                        .nodes = tc->nodes,
                        .depth = tc->depth};
}

static TimeControl control_of(const MatchLimit *limit) {
    return (TimeControl){.moves = limit->moves_to_go,
                         .base_s = (double)limit->base_ms / 1000,
                         .increment_s = (double)limit->increment_ms / 1000,
                         .move_s = (double)limit->move_ms / 1000,
                         .nodes = limit->nodes,
                         .depth = limit->depth};
}

bool limit_parse(const char *text, MatchLimit *out, Error *err) {
    TimeControl tc;
    bool good = tc_parse(text, &tc, err);
    *out = good ? limit_of(&tc) : (MatchLimit){0};
    return good;
}

bool limit_is_scaled(const MatchLimit *limit) {
    return limit->base_ms > 0 || limit->move_ms > 0;
}

void limit_scale(MatchLimit *limit, double factor) {
    TimeControl tc = control_of(limit);
    tc_scale(&tc, factor);
    limit->base_ms = to_ms(tc.base_s);
    limit->increment_ms = to_ms(tc.increment_s);
    limit->move_ms = to_ms(tc.move_s);
}

char *limit_text(const MatchLimit *limit, char out[TC_TEXT_MAX]) {
    TimeControl tc = control_of(limit);
    return tc_text(&tc, out);
}
