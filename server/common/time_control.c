// See time_control.h.
#include "server/common/time_control.h"

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
