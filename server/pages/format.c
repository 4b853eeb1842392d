// See format.h.
#include "server/pages/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MINUS "\xe2\x88\x92" // as wide as a plus or a digit, which a hyphen is not
#define DASH "\xe2\x80\x93"  // for what is not there
#define SPACE "\xc2\xa0"     // keeps a number and its unit together

// ---- numbers ------------------------------------------------------------------------------------

void format_number(double value, int decimals, bool sign, Str *out) {
    char digits[400];
    snprintf(digits, sizeof digits, "%.*f", decimals, fabs(value));
    bool zero = !digits[strspn(digits, "0.")];
    if (value < 0 && !zero)
        str_puts(out, MINUS);
    else if (sign && !zero)
        str_putc(out, '+');
    size_t whole = strcspn(digits, ".");
    for (size_t i = 0; i < whole; i++) {
        if (i && (whole - i) % 3 == 0)
            str_putc(out, ',');
        str_putc(out, digits[i]);
    }
    str_puts(out, digits + whole);
}

// Three figures, with the unit that fits.
static void format_scaled(double value, const char *const units[], double step, Str *out) {
    int i = 0;
    while (fabs(value) >= step && units[i + 1]) {
        value /= step;
        i++;
    }
    format_number(value, fabs(value) >= 100 || i == 0 ? 0 : fabs(value) >= 10 ? 1 : 2, false, out);
    str_printf(out, SPACE "%s", units[i]);
}

void format_duration(double seconds, Str *out) {
    long s = lround(fmin(fabs(seconds), 1e12));
    if (s < 60)
        str_printf(out, "%ld" SPACE "s", s);
    else if (s < 3600)
        str_printf(out, "%ld" SPACE "min", (s + 30) / 60);
    else if (s < 86400)
        str_printf(out, "%ld" SPACE "h" SPACE "%02ld" SPACE "min", s / 3600, s % 3600 / 60);
    else if (s < 365 * 86400L)
        str_printf(out, "%ld" SPACE "d" SPACE "%ld" SPACE "h", s / 86400, s % 86400 / 3600);
    else
        str_printf(out, "over a year");
}

// One unit: what was hours ago need not be told by the minute.
void format_ago(double seconds, Str *out) {
    static const struct {
        double size;
        const char *unit;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    double past = fabs(seconds);
    size_t i = 0;
    while (i < 3 && past < units[i].size)
        i++;
    double count = floor(past / units[i].size);
    if (count < 1)
        str_puts(out, "now");
    else if (seconds < 0)
        str_printf(out, "in %.0f" SPACE "%s", count, units[i].unit);
    else
        str_printf(out, "%.0f" SPACE "%s ago", count, units[i].unit);
}

// ---- the forms ----------------------------------------------------------------------------------

static void put_whole(double value, Str *out) {
    format_number(value, 0, false, out);
}

// A rate: the first decimal matters to slow ones only.
static void put_rate(double value, Str *out) {
    format_number(value, fabs(value) < 100 ? 1 : 0, false, out);
}

static void put_two(double value, Str *out) {
    format_number(value, 2, false, out);
}

static void put_three(double value, Str *out) {
    format_number(value, 3, false, out);
}

static void put_signed(double value, Str *out) {
    format_number(value, 2, true, out);
}

// Of 0 to 1.
static void put_share(double value, Str *out) {
    format_number(100 * value, 1, false, out);
    str_puts(out, SPACE "%");
}

// Of 0 to 100.
static void put_percent(double value, Str *out) {
    format_number(value, 1, false, out);
    str_puts(out, SPACE "%");
}

static void put_ago(double value, Str *out) {
    format_ago((double)time(NULL) - value, out);
}

static void put_time(double value, const char *form, Str *out) {
    time_t t = (time_t)value;
    struct tm tm;
    char text[40];
    if (gmtime_r(&t, &tm) && strftime(text, sizeof text, form, &tm))
        str_puts(out, text);
}

static void put_iso(double value, Str *out) {
    put_time(value, "%Y-%m-%dT%H:%M:%SZ", out);
}

static void put_date(double value, Str *out) {
    put_time(value, "%Y-%m-%d %H:%M UTC", out);
}

static void put_speed(double value, Str *out) {
    static const char *const units[] = {"n/s", "kn/s", "Mn/s", "Gn/s", NULL};
    format_scaled(value, units, 1000, out);
}

static void put_mib(double value, Str *out) {
    static const char *const units[] = {"MiB", "GiB", "TiB", NULL};
    format_scaled(value, units, 1024, out);
}

static void put_bytes(double value, Str *out) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", NULL};
    format_scaled(value, units, 1024, out);
}

// Geometry of drawings: for machines, so with a hyphen and without thousands.
static void put_coordinate(double value, Str *out) {
    str_printf(out, "%.1f", value);
}

// As it was typed: for the values of form fields.
static void put_plain(double value, Str *out) {
    str_printf(out, "%.10g", value);
}

static const struct {
    const char *name; // of the member, or of a filter
    void (*put)(double value, Str *out);
} forms[] = {
    {"elo", put_signed},
    {"low", put_signed},
    {"high", put_signed},
    {"nelo", put_signed},
    {"llr", put_two},
    {"lower", put_two},
    {"upper", put_two},
    {"lower_now", put_two},
    {"upper_now", put_two},
    {"elo0", put_two},
    {"elo1", put_two},
    {"error", put_two},
    {"pair_ratio", put_two},
    {"chi2", put_two},
    {"residual", put_two},
    {"alpha", put_plain},
    {"beta", put_plain},
    {"p", put_three},
    {"los", put_share},
    {"pass", put_share},
    {"busy", put_share},
    {"draw_ratio", put_share},
    {"draw_ratio_pairs", put_share},
    {"share", put_share},
    {"win", put_percent},
    {"draw", put_percent},
    {"loss", put_percent},
    {"games", put_whole},
    {"games_left", put_whole},
    {"games_max", put_whole},
    {"pairs", put_whole},
    {"pairs_done", put_whole},
    {"pairs_max", put_whole},
    {"batches", put_whole},
    {"wins", put_whole},
    {"losses", put_whole},
    {"draws", put_whole},
    {"crashes", put_whole},
    {"time_losses", put_whole},
    {"openings", put_whole},
    {"count", put_whole},
    {"finished_tests", put_whole},
    {"games_per_minute", put_rate},
    {"speed", put_speed},
    {"memory_mib", put_mib},
    {"size", put_bytes},
    {"bytes", put_bytes},
    {"seconds", format_duration},
    {"created", put_ago},
    {"started", put_ago},
    {"finished", put_ago},
    {"merged", put_ago},
    {"last_seen", put_ago},
    {"last_batch", put_ago},
    {"last_used", put_ago},
    {"x", put_coordinate},
    {"y", put_coordinate},
    {"width", put_coordinate},
    {"height", put_coordinate},
    // filters
    {"iso", put_iso},
    {"date", put_date},
    {"whole", put_whole},
    {"plain", put_plain},
    {"coordinate", put_coordinate},
};

// ---- values -------------------------------------------------------------------------------------

static void put_json(const json_t *value, Str *out) {
    char *text scope(free_ptr) = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    str_puts(out, text ? text : "");
}

static void put_string(const char *filter, const json_t *value, Str *out) {
    size_t size = json_string_length(value);
    bool is_short = strcmp(filter, "short") == 0 && size > 10; // a commit, as people name it
    str_add(out, json_string_value(value), is_short ? 10 : size);
}

// What an SPRT decides between, in the brackets that tell the unit: <0.00, 2.00> normalized Elo,
// {0.00, 2.00} logistic.
static void put_limits(const json_t *object, Str *out) {
    const char *model = json_string_value(json_object_get(object, "model"));
    bool logistic = model && strcmp(model, "logistic") == 0;
    str_putc(out, logistic ? '{' : '<');
    put_two(json_number_value(json_object_get(object, "elo0")), out);
    str_puts(out, ", ");
    put_two(json_number_value(json_object_get(object, "elo1")), out);
    str_putc(out, logistic ? '}' : '>');
}

void format_value(const char *name, const json_t *value, Str *out) {
    if (strcmp(name, "json") == 0)
        put_json(value, out);
    else if (strcmp(name, "limits") == 0)
        put_limits(value, out);
    else if (json_is_string(value))
        put_string(name, value, out);
    else if (json_is_null(value))
        str_puts(out, DASH);
    else if (json_is_number(value)) {
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
            if (strcmp(forms[i].name, name) == 0) {
                forms[i].put(json_number_value(value), out);
                return;
            }
        if (json_is_real(value))
            put_plain(json_real_value(value), out);
        else
            put_json(value, out);
    } else
        put_json(value, out);
}
