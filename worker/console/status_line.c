// See status_line.h.
#include "worker/console/status_line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/common/visible.h"

static const int64_t second_ns = 1000000000, sample_every_ns = 15 * INT64_C(1000000000);
static const double least_s = 5; // of play, before a rate says anything

enum { PARTS_MAX = 10, PART_MAX = 256, TITLE_MIN = 8, NUMBER_MAX = 32 };

// A line in the making: parts are joined by commas, the last one is dropped first.
typedef struct StatusLine {
    char head[PART_MAX];  // "test 12"
    char title[PART_MAX]; // "" where there is none
    char parts[PARTS_MAX][PART_MAX];
    int count;
} StatusLine;

// ---- text ---------------------------------------------------------------------------------------

static bool starts_character(char c) {
    return ((unsigned char)c & 0xC0) != 0x80;
}

static int columns(const char *text) {
    int count = 0;
    for (; *text; text++)
        count += starts_character(*text);
    return count;
}

// Keeps the first `count` characters.
static void cut(char *text, int count) {
    for (; *text; text++)
        if (starts_character(*text) && count-- == 0)
            break;
    *text = 0;
}

// What comes from the server must not steer the terminal.
static void make_visible(char text[PART_MAX]) {
    char copy[PART_MAX];
    visible_copy(copy, sizeof copy, text, strlen(text), false);
    memcpy(text, copy, sizeof copy);
}

__attribute__((format(printf, 2, 3))) static void add(StatusLine *line, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(line->parts[line->count++], PART_MAX, format, args);
    va_end(args);
}

// 1234567 as "1,234,567".
static const char *with_commas(int64_t value, char out[NUMBER_MAX]) {
    char digits[NUMBER_MAX];
    int size = snprintf(digits, sizeof digits, "%" PRId64, value), n = 0;
    for (int i = 0; i < size; i++) {
        if (i && (size - i) % 3 == 0 && digits[i - 1] != '-')
            out[n++] = ',';
        out[n++] = digits[i];
    }
    out[n] = 0;
    return out;
}

// ---- the parts ----------------------------------------------------------------------------------

double status_rate(const Status *s, int64_t now_ns) {
    if (!s->sample_count)
        return 0;
    double seconds = (double)(now_ns - s->samples[0].when_ns) / 1e9;
    return seconds < least_s ? 0 : (double)(s->games_total - s->samples[0].games) / seconds * 3600;
}

void status_sample(Status *s, int64_t now_ns) {
    if (s->sample_count && now_ns - s->samples[s->sample_count - 1].when_ns < sample_every_ns)
        return;
    if (s->sample_count == STATUS_SAMPLES)
        memmove(s->samples, s->samples + 1, --s->sample_count * sizeof *s->samples);
    s->samples[s->sample_count].when_ns = now_ns;
    s->samples[s->sample_count++].games = s->games_total;
}

static void add_credit(StatusLine *line, const Status *s) {
    char number[NUMBER_MAX];
    if (s->credit < 0)
        return;
    add(line, "%s games credited%s%s", with_commas(s->credit, number),
        *s->credit_user ? " to " : "", s->credit_user);
}

static void add_waiting(StatusLine *line, const Status *s, int64_t now_ns) {
    int64_t left = (s->retry_ns - now_ns + second_ns - 1) / second_ns;
    add(line, "waiting for %s", s->waiting);
    if (left > 0)
        add(line, "next try in %" PRId64 " s", left);
}

static void add_play(StatusLine *line, const Status *s, int64_t now_ns) {
    char number[NUMBER_MAX];
    int pair = s->pairs_done < s->pairs ? s->pairs_done + 1 : s->pairs;
    double rate = status_rate(s, now_ns);
    add(line, "pair %d of %d", pair, s->pairs);
    add(line, "+%d -%d =%d", s->wins, s->losses, s->draws);
    if (*s->waiting) // matters more than what follows, which a narrow terminal drops
        add_waiting(line, s, now_ns);
    if (*s->summary)
        add(line, "%s", s->summary);
    if (rate > 0)
        add(line, "%s games/h", with_commas((int64_t)(rate + 0.5), number));
    add_credit(line, s);
}

static void add_phase(StatusLine *line, const Status *s, int64_t now_ns) {
    double seconds = (double)(now_ns - s->since_ns) / 1e9;
    const char *between = *s->detail ? " " : "";
    if (s->usual_s >= 1)
        add(line, "%s%s%s, %.0f s of about %.0f", s->phase, between, s->detail, seconds,
            s->usual_s);
    else
        add(line, "%s%s%s, %.0f s", s->phase, between, s->detail, seconds);
}

static void add_idle(StatusLine *line, const Status *s) {
    char number[NUMBER_MAX];
    add(line, "waiting for work");
    if (s->games_total)
        add(line, "%s games since the start", with_commas(s->games_total, number));
    add_credit(line, s);
}

static void fill(StatusLine *line, const Status *s, int64_t now_ns) {
    bool playing = strcmp(s->phase, "play") == 0;
    if (*s->phase) {
        snprintf(line->head, PART_MAX, "test %" PRId64, s->test);
        snprintf(line->title, PART_MAX, "%s", s->title);
    }
    if (s->stopping)
        add(line, "%s", *s->phase ? "stopping after the running games" : "stopping");
    if (playing)
        add_play(line, s, now_ns);
    else if (*s->phase)
        add_phase(line, s, now_ns);
    if (*s->waiting && !playing)
        add_waiting(line, s, now_ns);
    else if (!*s->phase && !s->stopping)
        add_idle(line, s);
}

// ---- the line -----------------------------------------------------------------------------------

static void join(const StatusLine *line, char out[STATUS_LINE_MAX]) {
    size_t n = (size_t)snprintf(out, STATUS_LINE_MAX, "%s%s%s%s", line->head,
                                *line->title ? " " : "", line->title, *line->head ? ": " : "");
    for (int i = 0; i < line->count && n < STATUS_LINE_MAX; i++)
        n += (size_t)snprintf(out + n, STATUS_LINE_MAX - n, "%s%s", i ? ", " : "", line->parts[i]);
}

static void cut_title(StatusLine *line, int too_many) {
    int keep = columns(line->title) - too_many - 1;
    cut(line->title, keep < TITLE_MIN ? TITLE_MIN : keep);
    snprintf(line->title + strlen(line->title), PART_MAX - strlen(line->title), "…");
}

void status_line(const Status *status, int64_t now_ns, int width, char out[STATUS_LINE_MAX]) {
    StatusLine line = {.count = 0};
    fill(&line, status, now_ns);
    make_visible(line.title);
    for (int i = 0; i < line.count; i++)
        make_visible(line.parts[i]);
    join(&line, out);
    if (columns(out) > width && columns(line.title) > TITLE_MIN + 1) {
        cut_title(&line, columns(out) - width);
        join(&line, out);
    }
    while (columns(out) > width && line.count > 1) {
        line.count--;
        join(&line, out);
    }
    cut(out, width);
}
