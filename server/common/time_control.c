// See time_control.h.
#include "server/common/time_control.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/common/str.h"

enum { TYPICAL_MOVES = 68, LONGEST_MOVES = 300 };
static const double REFERENCE_SECONDS = (10 + TYPICAL_MOVES * 0.1) * 2 * 0.92; // 10+0.1

static bool refuse(const char *text, const char *why, Error *err) {
    return error_field(err, 422, "bad_tc", "tc",
                       "\"%.40s\" is not a time control: %s; write 10+0.1, 40/10+0.1, st=0.1, "
                       "nodes=20000 or depth=8",
                       text, why);
}

// A plain decimal: digits and at most one point. strtod() accepts other forms as well.
static bool read_seconds(const char *text, double low, double high, double *out) {
    return text[strspn(text, "0123456789.")] == 0 && parse_double(text, low, high, out);
}

// Only digits: no sign, no blanks.
static bool read_whole(const char *text, long high, long *out) {
    return text[strspn(text, "0123456789")] == 0 && parse_long(text, 1, high, out);
}

static bool read_limit(const char *text, const char *value, TimeControl *out, Error *err) {
    long number;
    if (strncmp(text, "st=", 3) == 0)
        return read_seconds(value, 0.001, 600, &out->move_s) ||
               refuse(text, "st is 0.001 to 600 seconds", err);
    if (strncmp(text, "nodes=", 6) == 0) {
        if (!read_whole(value, 1000000000000, &number))
            return refuse(text, "nodes is a whole number above 0", err);
        out->nodes = number;
        return true;
    }
    if (strncmp(text, "depth=", 6) == 0) {
        if (!read_whole(value, 200, &number))
            return refuse(text, "depth is 1 to 200", err);
        out->depth = (int)number;
        return true;
    }
    return refuse(text, "the limits are st, nodes and depth", err);
}

static bool read_clock(const char *whole, char *text, TimeControl *out, Error *err) {
    char *slash = strchr(text, '/');
    long moves = 0;
    if (slash) {
        *slash = 0;
        if (!read_whole(text, 1000, &moves))
            return refuse(whole, "the number of moves before the slash is 1 to 1000", err);
        text = slash + 1;
    }
    char *plus = strchr(text, '+');
    if (plus) {
        *plus = 0;
        if (!read_seconds(plus + 1, 0, 300, &out->increment_s))
            return refuse(whole, "the increment is 0 to 300 seconds", err);
    }
    if (!read_seconds(text, 0.01, 10800, &out->base_s))
        return refuse(whole, "the base is 0.01 to 10800 seconds", err);
    out->moves = (int)moves;
    return true;
}

bool tc_parse(const char *text, TimeControl *out, Error *err) {
    char copy[TC_TEXT_MAX];
    *out = (TimeControl){0};
    if (snprintf(copy, sizeof copy, "%s", text) >= TC_TEXT_MAX)
        return refuse(text, "it is too long", err);
    const char *equals = strchr(text, '=');
    return equals ? read_limit(text, equals + 1, out, err) : read_clock(text, copy, out, err);
}

bool tc_is_scaled(const TimeControl *tc) {
    return tc->base_s > 0 || tc->move_s > 0;
}

char *tc_text(const TimeControl *tc, char out[TC_TEXT_MAX]) {
    char moves[16] = "";
    if (tc->moves)
        snprintf(moves, sizeof moves, "%d/", tc->moves);
    if (tc->nodes)
        snprintf(out, TC_TEXT_MAX, "nodes=%" PRId64, tc->nodes);
    else if (tc->depth)
        snprintf(out, TC_TEXT_MAX, "depth=%d", tc->depth);
    else if (tc->move_s > 0)
        snprintf(out, TC_TEXT_MAX, "st=%.3f", tc->move_s);
    else
        snprintf(out, TC_TEXT_MAX, "%s%.3f+%.3f", moves, tc->base_s, tc->increment_s);
    return out;
}

// Rounded to milliseconds before, because that is how a clock is set, and after.
static double scaled(double seconds, double factor) {
    double ms = round(seconds * 1000);
    return ms > 0 ? fmax(1, round(ms * factor)) / 1000 : 0;
}

void tc_scale(TimeControl *tc, double factor) {
    tc->base_s = scaled(tc->base_s, factor);
    tc->increment_s = scaled(tc->increment_s, factor);
    tc->move_s = scaled(tc->move_s, factor);
}

bool clock_scale_factor(const ClockScale *scale, double measured_speed, double *factor) {
    double exact = scale->reference_speed / measured_speed;
    *factor = fmin(fmax(exact, scale->min), scale->max);
    return exact <= scale->max;
}

bool clock_scale_apply(const ClockScale *scale, const char *text, double measured_speed,
                       TimeControl *out, Error *err) {
    double factor;
    if (!tc_parse(text, out, err))
        return false;
    clock_scale_factor(scale, measured_speed, &factor);
    if (tc_is_scaled(out))
        tc_scale(out, factor);
    return true;
}

double clock_scale_least(const ClockScale *scale) {
    return scale->reference_speed / scale->max;
}

// Seconds that one side may think in a game of `moves` moves.
static double side_seconds(const TimeControl *tc, double moves, double speed) {
    if (tc->move_s > 0)
        return tc->move_s * moves;
    if (tc->nodes > 0)
        return (double)tc->nodes * moves / fmax(speed, 1);
    if (tc->depth > 0) // about 2.2 times the nodes a ply of depth
        return 50 * pow(2.2, tc->depth) * moves / fmax(speed, 1);
    double base = tc->moves ? tc->base_s * moves / tc->moves : tc->base_s;
    return base + tc->increment_s * moves;
}

double tc_game_seconds(const TimeControl *tc, double speed) {
    return fmax(side_seconds(tc, TYPICAL_MOVES, speed) * 2 * 0.92, 0.01);
}

double tc_longest_seconds(const TimeControl *tc, double speed) {
    return side_seconds(tc, LONGEST_MOVES, speed) * 2;
}

double tc_ratio(const TimeControl *tc, int threads) {
    return threads * tc_game_seconds(tc, 1e6) / REFERENCE_SECONDS;
}

int tc_batch_pairs(const TimeControl *tc, int threads) {
    double pairs = floor(0.5 + 16 / tc_ratio(tc, threads));
    return (int)fmax(1, fmin(16, pairs));
}
