// Progress as text.
#include "learn/meter.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "search/timer.h"

enum { BAR_WIDTH = 24, SECOND_US = 1000000, LINE_MAX_SIZE = 256 };

char *meter_count(uint64_t count, char out[METER_TEXT_MAX]) {
    char digits[METER_TEXT_MAX];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, count), at = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

char *meter_duration(uint64_t seconds, char out[METER_TEXT_MAX]) {
    uint64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
    if (days > 0)
        snprintf(out, METER_TEXT_MAX, "%" PRIu64 " d %" PRIu64 " h", days, hours % 24);
    else if (hours > 0)
        snprintf(out, METER_TEXT_MAX, "%" PRIu64 " h %" PRIu64 " min", hours, minutes % 60);
    else if (minutes > 0)
        snprintf(out, METER_TEXT_MAX, "%" PRIu64 " min", minutes);
    else
        snprintf(out, METER_TEXT_MAX, "%" PRIu64 " s", seconds);
    return out;
}

static void bar_text(uint64_t done, uint64_t total, char out[BAR_WIDTH + 1]) {
    int filled = total ? (int)(done * BAR_WIDTH / total) : BAR_WIDTH;
    memset(out, '.', BAR_WIDTH);
    memset(out, '#', (size_t)filled);
    out[BAR_WIDTH] = '\0';
}

static void line_text(const Meter *meter, uint64_t games, uint64_t positions,
                      char out[LINE_MAX_SIZE]) {
    char counts[4][METER_TEXT_MAX], left[METER_TEXT_MAX] = "?";
    int64_t time_us = clock_now_us() - meter->start_us + 1;
    uint64_t done = meter->before + games, missing = meter->total - done;
    if (games > 0)
        meter_duration((uint64_t)((double)missing / (double)games * (double)time_us / SECOND_US),
                       left);
    snprintf(out, LINE_MAX_SIZE,
             "%3" PRIu64 " %%  %s of %s games, %s positions, %s positions/s, %s left",
             meter->total ? done * 100 / meter->total : 100, meter_count(done, counts[0]),
             meter_count(meter->total, counts[1]), meter_count(positions, counts[2]),
             meter_count(positions * SECOND_US / (uint64_t)time_us, counts[3]), left);
}

static void draw(Meter *meter, uint64_t games, uint64_t positions, const char *end) {
    char line[LINE_MAX_SIZE], bar[BAR_WIDTH + 1];
    line_text(meter, games, positions, line);
    bar_text(meter->before + games, meter->total, bar);
    if (meter->is_terminal)
        fprintf(meter->out, "\r[%s] %s\x1b[K%s", bar, line, end);
    else
        fprintf(meter->out, "%s\n", line);
    fflush(meter->out);
    meter->shown_us = clock_now_us();
}

void meter_init(Meter *meter, FILE *out, uint64_t before, uint64_t total) {
    int64_t now_us = clock_now_us();
    *meter = (Meter){.out = out,
                     .is_terminal = isatty(fileno(out)) == 1,
                     .start_us = now_us,
                     .shown_us = now_us,
                     .before = before,
                     .total = total};
}

void meter_show(Meter *meter, uint64_t games, uint64_t positions) {
    int64_t period_us = meter->is_terminal ? SECOND_US / 2 : (int64_t)60 * SECOND_US;
    if (clock_now_us() - meter->shown_us >= period_us)
        draw(meter, games, positions, "");
}

void meter_end(Meter *meter, uint64_t games, uint64_t positions) {
    draw(meter, games, positions, "\n");
}
