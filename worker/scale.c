// See scale.h.
#include "scale.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../server/common/str.h"

static const double base_max_s = 86400, increment_max_s = 3600;

static int64_t to_ms(double seconds) {
    return llround(seconds * 1000);
}

// A decimal number at *text, moved over. No sign, exponent, inf or nan: digits and a point.
static bool take_number(const char **text, double max, double *out) {
    size_t size = strspn(*text, "0123456789.");
    char digits[24];
    if (size == 0 || size >= sizeof digits)
        return false;
    memcpy(digits, *text, size);
    digits[size] = 0;
    *text += size;
    return parse_double(digits, 0, max, out);
}

static bool parse_clock(const char *text, MatchLimit *out) {
    double first, increment = 0;
    if (!take_number(&text, base_max_s, &first))
        return false;
    if (*text == '/') {
        out->moves_to_go = (int)first;
        text++;
        if (first < 1 || first > 1000 || first != floor(first) ||
            !take_number(&text, base_max_s, &first))
            return false;
    }
    if (*text == '+') {
        text++;
        if (!take_number(&text, increment_max_s, &increment))
            return false;
    }
    out->base_ms = to_ms(first);
    out->increment_ms = to_ms(increment);
    return !*text && out->base_ms > 0;
}

static bool parse_limit(const char *tc, MatchLimit *out) {
    double seconds;
    long number;
    const char *text = tc;
    if (strncmp(tc, "st=", 3) == 0) {
        text += 3;
        if (!take_number(&text, increment_max_s, &seconds) || *text)
            return false;
        out->move_ms = to_ms(seconds);
        return out->move_ms > 0;
    }
    if (strncmp(tc, "nodes=", 6) == 0) {
        bool fine = parse_long(tc + 6, 1, 1L << 50, &number);
        out->nodes = fine ? number : 0;
        return fine;
    }
    if (strncmp(tc, "depth=", 6) == 0) {
        bool fine = parse_long(tc + 6, 1, 250, &number);
        out->depth = fine ? (int)number : 0;
        return fine;
    }
    return parse_clock(tc, out);
}

bool limit_parse(const char *tc, MatchLimit *out, Error *err) {
    *out = (MatchLimit){0};
    return parse_limit(tc, out) ||
           error_set(err, 422, "bad_tc", "'%.60s' is no time control that this worker knows", tc);
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
