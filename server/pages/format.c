// See format.h.
#include "server/pages/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MINUS "\xe2\x88\x92" // as wide as a plus or a digit, which a hyphen is not
#define DASH "\xe2\x80\x93"  // for a missing value
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

// One unit: minutes say nothing about an event of some hours ago.
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

static void put_fixed2(double value, Str *out) {
    format_number(value, 2, false, out);
}

static void put_fixed3(double value, Str *out) {
    format_number(value, 3, false, out);
}

static void put_signed(double value, Str *out) {
    format_number(value, 2, true, out);
}

// Of 0 to 1.
static void put_percent(double value, Str *out) {
    format_number(100 * value, 1, false, out);
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

static const struct {
    const char *name;
    void (*put)(double value, Str *out);
} forms[] = {
    {"whole", put_whole},     // 1,234
    {"fixed2", put_fixed2},   // 1.23
    {"fixed3", put_fixed3},   // 1.234
    {"signed", put_signed},   // +1.23
    {"rate", put_rate},       // 12.3, 1,234
    {"percent", put_percent}, // of 0 to 1: 12.3 %
    {"speed", put_speed},     // of nodes a second: 1.23 Mn/s
    {"mib", put_mib},         // of MiB: 1.23 GiB
    {"bytes", put_bytes},     // 1.23 MiB
    {"duration", format_duration},
    {"ago", put_ago},   // of Unix seconds: 3 min ago
    {"iso", put_iso},   // of Unix seconds: for datetime=""
    {"date", put_date}, // of Unix seconds: 2026-11-23 18:23 UTC
    {"coordinate", put_coordinate},
};

// Those that take other values than numbers.
static const char *const others[] = {"json", "short"};

// ---- values -------------------------------------------------------------------------------------

static void put_json(const json_t *value, Str *out) {
    char *text scope(free_ptr) = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    str_puts(out, text ? text : "");
}

static void put_string(const char *form, const json_t *value, Str *out) {
    size_t size = json_string_length(value);
    bool is_short = strcmp(form, "short") == 0 && size > 10; // a commit or a hash
    str_add(out, json_string_value(value), is_short ? 10 : size);
}

bool format_is_known(const char *form) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i], form) == 0)
            return true;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].name, form) == 0)
            return true;
    return false;
}

static void put_number(const char *form, const json_t *value, Str *out) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].name, form) == 0) {
            forms[i].put(json_number_value(value), out);
            return;
        }
    if (json_is_real(value))
        str_printf(out, "%.10g", json_real_value(value));
    else
        put_json(value, out);
}

void format_value(const char *form, const json_t *value, Str *out) {
    if (!form)
        form = "";
    if (strcmp(form, "json") == 0)
        put_json(value, out);
    else if (json_is_string(value))
        put_string(form, value, out);
    else if (json_is_null(value))
        str_puts(out, DASH);
    else if (json_is_number(value))
        put_number(form, value, out);
    else
        put_json(value, out);
}
