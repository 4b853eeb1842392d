// See chart.h.
#include "server/pages/chart.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/common/json_member.h"
#include "server/common/str.h"
#include "server/pages/format.h"
#include "sprt/sprt.h"

enum { LEFT = 60, TOP = 14, BOTTOM = 34, RIGHT = 14, RIGHT_AXIS = 50, POINTS_TEXT_MAX = 1 << 20 };

// From a range of data to a range of pixels.
typedef struct Scale {
    double from, to;   // data
    double start, end; // pixels
} Scale;

static double place(const Scale *s, double value) {
    double part = (value - s->from) / (s->to - s->from);
    part = fmin(fmax(part, 0), 1);
    return s->start + part * (s->end - s->start);
}

static double at(const json_t *column, size_t i) {
    const json_t *value = json_array_get(column, i);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

// ---- ticks --------------------------------------------------------------------------------------

double chart_step(double from, double to, int count, int *decimals) {
    static const double nice[] = {1, 2, 5, 10};
    double rough = (to - from) / count;
    double power = pow(10, floor(log10(rough)));
    double step = 10 * power;
    for (size_t i = 0; i < sizeof nice / sizeof *nice; i++)
        if (nice[i] * power >= rough * (1 - 1e-9)) {
            step = nice[i] * power;
            break;
        }
    *decimals = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;
    return step;
}

typedef void Label(double value, int decimals, Str *out);

static void label_plain(double value, int decimals, Str *out) {
    format_number(value, decimals, false, out);
}

static void label_signed(double value, int decimals, Str *out) {
    format_number(value, decimals, true, out);
}

static void label_score(double elo, int decimals, Str *out) {
    (void)decimals;
    format_number(100 * elo_to_score(elo), 1, false, out);
    str_puts(out, "%");
}

static json_t *label_json(Label *label, double value, int decimals) {
    Str text scope(str_release);
    str_init(&text, 64);
    label(value, decimals, &text);
    return json_string(text.data);
}

static json_t *ticks(const Scale *scale, const char *axis, int count, Label *label) {
    int decimals;
    json_t *out = json_array();
    double step = chart_step(scale->from, scale->to, count, &decimals);
    for (double i = ceil(scale->from / step - 1e-9); i * step <= scale->to + step * 1e-9; i++)
        json_array_append_new(out,
                              json_pack("{s:f, s:o, s:b}", axis, place(scale, i * step), "label",
                                        label_json(label, i * step, decimals), "zero", i == 0));
    return out;
}

// Hours on the hour, days at midnight.
static json_t *time_ticks(const Scale *scale) {
    static const double steps[] = {1,     2,      5,      10,     15,      30,      60,      120,
                                   300,   600,    900,    1800,   3600,    7200,    14400,   43200,
                                   86400, 172800, 432000, 864000, 2592000, 7776000, 31536000};
    double step = steps[0];
    for (size_t i = 0; i < sizeof steps / sizeof *steps && (scale->to - scale->from) / step > 4;
         i++)
        step = steps[i];
    json_t *out = json_array();
    for (double t = ceil(scale->from / step) * step; t <= scale->to; t += step) {
        char text[32];
        struct tm tm;
        time_t whole = (time_t)t;
        const char *form = step < 60 ? "%H:%M:%S" : step < 86400 ? "%H:%M" : "%d %b";
        if (gmtime_r(&whole, &tm) && strftime(text, sizeof text, form, &tm))
            json_array_append_new(out,
                                  json_pack("{s:f, s:s}", "x", place(scale, t), "label", text));
    }
    return out;
}

// ---- lines --------------------------------------------------------------------------------------

static void add_point(Str *out, double x, double y) {
    str_printf(out, "%s%.1f,%.1f", out->size ? " " : "", x, y);
}

static json_t *steal(Str *text) {
    json_t *out = json_string(text->data);
    str_release(text);
    return out;
}

static json_t *line(const json_t *xs, const json_t *ys, const Scale *x, const Scale *y,
                    bool origin) {
    Str out;
    str_init(&out, POINTS_TEXT_MAX);
    if (origin)
        add_point(&out, place(x, 0), place(y, 0));
    for (size_t i = 0; i < json_array_size(xs); i++)
        if (isfinite(at(ys, i)))
            add_point(&out, place(x, at(xs, i)), place(y, at(ys, i)));
    return steal(&out);
}

// Along the upper edge and back along the lower.
static json_t *band(const json_t *xs, const json_t *ys, const json_t *errors, const Scale *x,
                    const Scale *y) {
    Str out;
    str_init(&out, POINTS_TEXT_MAX);
    size_t count = json_array_size(xs);
    for (size_t i = 0; i < 2 * count; i++) {
        bool back = i >= count;
        size_t k = back ? 2 * count - 1 - i : i;
        double value = at(ys, k) + (back ? -1 : 1) * at(errors, k);
        if (isfinite(value))
            add_point(&out, place(x, at(xs, k)), place(y, value));
    }
    return steal(&out);
}

static json_t *frame(double right) {
    return json_pack("{s:f, s:f, s:f, s:f}", "left", (double)LEFT, "top", (double)TOP, "right",
                     CHART_WIDTH - right, "bottom", (double)CHART_HEIGHT - BOTTOM);
}

static Scale scale_y(double from, double to) {
    return (Scale){from, to, CHART_HEIGHT - BOTTOM, TOP};
}

static Scale scale_x(double from, double to, double right) {
    return (Scale){from, to, LEFT, CHART_WIDTH - right};
}

// ---- charts -------------------------------------------------------------------------------------

static json_t *bound(const Scale *y, double value, const char *kind) {
    return json_pack("{s:f, s:o, s:s}", "y", place(y, value), "label",
                     label_json(label_plain, value, 2), "kind", kind);
}

json_t *chart_llr(const json_t *history, const json_t *stats) {
    const json_t *games = json_object_get(history, "games"),
                 *llr = json_object_get(json_object_get(history, "points"), "llr");
    const json_t *bounds = json_object_get(stats, "bounds");
    size_t count = json_array_size(games);
    if (!json_is_object(bounds))
        return json_null();
    double low = member_real(bounds, "lower"), high = member_real(bounds, "upper");
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, at(llr, i));
        high = fmax(high, at(llr, i));
    }
    double room = (high - low) * 0.08, last = count ? at(games, count - 1) : 100;
    Scale y = scale_y(low - room, high + room), x = scale_x(0, fmax(last, 1), RIGHT);
    return json_pack(
        "{s:b, s:o, s:o, s:o, s:[o, o], s:o}", "empty", count == 0, "plot", frame(RIGHT), "xticks",
        ticks(&x, "x", 5, label_plain), "yticks", ticks(&y, "y", 6, label_plain), "bounds",
        bound(&y, member_real(bounds, "upper"), "accept"),
        bound(&y, member_real(bounds, "lower"), "reject"), "line", line(games, llr, &x, &y, true));
}

// The scale is that of the later part of the test: after a few pairs the estimate is still wild.
// Zero is always in the picture.
static Scale elo_scale(const json_t *elo, const json_t *error) {
    size_t count = json_array_size(elo);
    double low = 0, high = 0;
    for (size_t i = count / 4; i < count; i++) {
        double spread = i + 1 == count ? at(error, i) * 1.3 : 0;
        if (!isfinite(at(elo, i) + spread))
            continue;
        low = fmin(low, at(elo, i) - spread);
        high = fmax(high, at(elo, i) + spread);
    }
    double room = fmax((high - low) * 0.08, 0.5);
    return scale_y(low - room, high + room);
}

json_t *chart_elo(const json_t *history) {
    const json_t *time = json_object_get(history, "time"), *elo = json_object_get(history, "elo");
    const json_t *error = json_object_get(history, "error");
    size_t count = json_array_size(time);
    double first = count ? at(time, 0) : 0, last = count ? at(time, count - 1) : 0;
    Scale y = elo_scale(elo, error), x = scale_x(first, fmax(last, first + 1), RIGHT_AXIS);
    return json_pack("{s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "empty", count == 0, "plot",
                     frame(RIGHT_AXIS), "xticks", time_ticks(&x), "yticks",
                     ticks(&y, "y", 6, label_signed), "rights", ticks(&y, "y", 6, label_score),
                     "line", line(time, elo, &x, &y, false), "band",
                     band(time, elo, error, &x, &y));
}

json_t *chart_pairs(const json_t *stats) {
    static const char *const names[] = {"LL", "LD", "WL or DD", "WD", "WW"};
    static const char *const points[] = {"0", "½", "1", "1½", "2"};
    const json_t *counts = json_object_get(stats, "ptnml");
    double most = 1, all = 0, step = (CHART_WIDTH - 2.0 * RIGHT) / 5;
    for (size_t i = 0; i < 5; i++) {
        most = fmax(most, at(counts, i));
        all += at(counts, i);
    }
    Scale y = {0, most, CHART_HEIGHT - 46, 30};
    json_t *bars = json_array();
    for (size_t i = 0; i < 5; i++) {
        double x = RIGHT + (double)i * step, top = place(&y, at(counts, i));
        json_array_append_new(bars, json_pack("{s:f, s:f, s:f, s:f, s:f, s:o, s:s, s:s, s:f}", "x",
                                              x + step * 0.14, "width", step * 0.72, "y", top,
                                              "height", y.start - top, "middle", x + step / 2,
                                              "label", label_json(label_plain, at(counts, i), 0),
                                              "name", names[i], "points", points[i], "share",
                                              all > 0 ? at(counts, i) / all : 0));
    }
    return json_pack("{s:o, s:b}", "bars", bars, "empty", all <= 0);
}

json_t *chart_progress(const json_t *stats) {
    const json_t *bounds = json_object_get(stats, "bounds");
    if (!json_is_object(bounds))
        return json_null();
    double progress = member_real(bounds, "progress");
    return json_pack("{s:f, s:f, s:s}", "x", progress < 0 ? 100 + 100 * progress : 100, "width",
                     fabs(100 * progress), "side", progress < 0 ? "reject" : "accept");
}
